//! Objects behind a URL: `https://`, `s3://`, `gs://`, `az://`. A reader asks for ranges of bytes, so that a
//! host fetches its share and no more; a writer sends parts, and the object appears when it is whole.
//!
//! The stores are those of the crate `object_store`, behind the feature `remote`. Without the feature a URL
//! is an error that says how to get it. Keys and endpoints come from the variables that the stores' own
//! tools read: `AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME` and so on.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::Result;

#[cfg(feature = "remote")]
mod store;
#[cfg(not(feature = "remote"))]
mod without;

#[cfg(feature = "remote")]
use store as stores;
#[cfg(not(feature = "remote"))]
use without as stores;

/// An object that can be read.
pub(crate) trait RemoteObject: Send + Sync {
    /// What the user calls it.
    fn url(&self) -> &str;

    /// Number of bytes.
    fn len(&self) -> u64;

    /// A range of its bytes, by one request. Many threads may ask at once.
    fn get(&self, range: Range<u64>) -> io::Result<Bytes>;
}

/// An object that is being written. It does not exist before it is finished; dropped, it never will.
pub(crate) trait RemoteUpload: Write + Send {
    /// Sends what is left; the object then exists.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// The object of a URL; of one that ends in `/` all objects below it, in the order of their names, but for
/// those in which programs that write folders of parts keep books.
pub(super) fn find(url: &str) -> Result<Vec<Arc<dyn RemoteObject>>> {
    stores::find(url)
}

/// Begins to write the object of a URL.
pub(crate) fn upload(url: &str) -> Result<Box<dyn RemoteUpload>> {
    stores::upload(url)
}

/// The beginnings of URLs that are understood.
const SCHEMES: [&str; 7] = ["https", "http", "s3", "s3a", "gs", "az", "azure"];

/// Whether this is a URL of a remote store.
pub(crate) fn is_remote(spec: &str) -> bool {
    spec.split_once("://").is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_no_files_and_files_no_urls() {
        for url in
            ["https://x.org/a.el", "s3://bucket/a/b.parquet", "gs://b/", "az://c/x", "http://x"]
        {
            assert!(is_remote(url), "{url}");
        }
        for file in ["a.el", "-", "rmat:18", "/x/s3:/y", "s3:/x", "ftp://x/y", "file:///x", "://x"]
        {
            assert!(!is_remote(file), "{file}");
        }
    }
}
