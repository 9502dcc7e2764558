//! A server of objects in memory: HTTP with ranges, and as much of S3's protocol as stores use to list and
//! write objects, which Google's knows, too. It notes what was asked for.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Objects by their paths, `/bucket/key`.
#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    /// Parts of uploads under way, by upload.
    uploads: HashMap<String, BTreeMap<u32, Vec<u8>>>,
    /// Ranges that were sent, with the paths of their objects.
    sent: Vec<(String, std::ops::Range<usize>)>,
}

/// A running server. Its threads end with the process.
pub(crate) struct Server {
    port: u16,
    state: Arc<Mutex<State>>,
}

/// What a client asks for.
struct Request {
    method: String,
    path: String,
    query: HashMap<String, String>,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

struct Response {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Response { status, headers: Vec::new(), body: body.into() }
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::<Mutex<State>>::default();
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Server { port, state }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        self.state.lock().unwrap().objects.insert(path.into(), bytes.to_vec());
    }

    pub(crate) fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.state.lock().unwrap().objects.get(path).cloned()
    }

    /// The ranges of an object that were sent since the last call.
    pub(crate) fn take_sent(&self, path: &str) -> Vec<std::ops::Range<usize>> {
        let all = std::mem::take(&mut self.state.lock().unwrap().sent);
        all.into_iter().filter(|(of, _)| of == path).map(|(_, range)| range).collect()
    }

    /// Uploads that were neither completed nor aborted.
    pub(crate) fn open_uploads(&self) -> usize {
        self.state.lock().unwrap().uploads.len()
    }
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut stream = stream;
    while let Some(request) = read(&mut reader) {
        let is_head = request.method == "HEAD";
        let Response { status, headers, body } = answer(&request, &mut state.lock().unwrap());
        let mut head = format!("HTTP/1.1 {status}\r\n");
        let has_length = headers.iter().any(|(name, _)| *name == "Content-Length");
        if !has_length {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let body = if is_head { &[][..] } else { &body };
        let all = [head.as_bytes(), b"\r\n", body].concat();
        if stream.write_all(&all).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), value.replace("%2F", "/"))
    };
    let query = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect();
    Some(Request { method, path: path.to_owned(), query, headers, body })
}

fn answer(request: &Request, state: &mut State) -> Response {
    let Request { method, path, query, .. } = request;
    match &method[..] {
        "GET" if query.contains_key("list-type") => list(path.trim_end_matches('/'), query, state),
        "GET" | "HEAD" => object(request, state),
        "PUT" if query.contains_key("partNumber") => {
            let (id, number) = (&query["uploadId"], query["partNumber"].parse().expect("a number"));
            let upload = state.uploads.get_mut(id).expect("an upload");
            upload.insert(number, request.body.clone());
            tagged(Response::new("200 OK", ""))
        }
        "PUT" => {
            state.objects.insert(path.clone(), request.body.clone());
            tagged(Response::new("200 OK", ""))
        }
        "POST" if query.contains_key("uploads") => {
            let id = format!("upload{}", state.uploads.len());
            state.uploads.insert(id.clone(), BTreeMap::new());
            Response::new(
                "200 OK",
                format!(
                    "<InitiateMultipartUploadResult><UploadId>{id}</UploadId>\
                     </InitiateMultipartUploadResult>"
                ),
            )
        }
        "POST" => {
            let parts = state.uploads.remove(&query["uploadId"]).expect("an upload");
            state.objects.insert(path.clone(), parts.into_values().collect::<Vec<_>>().concat());
            Response::new(
                "200 OK",
                "<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>",
            )
        }
        "DELETE" => {
            query.get("uploadId").map(|id| state.uploads.remove(id));
            Response::new("204 No Content", "")
        }
        _ => Response::new("405 Method Not Allowed", ""),
    }
}

fn tagged(mut response: Response) -> Response {
    response.headers.push(("ETag", "\"1\"".into()));
    response
}

/// An object, or a range of it.
fn object(request: &Request, state: &mut State) -> Response {
    let Some(bytes) = state.objects.get(&request.path) else {
        return Response::new("404 Not Found", "<Error><Code>NoSuchKey</Code></Error>");
    };
    let mut headers =
        vec![("ETag", "\"1\"".into()), ("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT".into())];
    let asked = request.headers.get("range").or(request.headers.get("x-ms-range"));
    let Some(range) = asked.and_then(|range| range.strip_prefix("bytes=")) else {
        if request.method == "GET" {
            state.sent.push((request.path.clone(), 0..bytes.len()));
        }
        headers.push(("Content-Length", bytes.len().to_string()));
        return Response { status: "200 OK", headers, body: bytes.clone() };
    };
    let (from, to) = range.split_once('-').expect("a range");
    let from: usize = from.parse().expect("a number");
    let end = to.parse().map_or(bytes.len(), |last: usize| (last + 1).min(bytes.len()));
    headers.push(("Content-Range", format!("bytes {from}-{}/{}", end - 1, bytes.len())));
    let body = bytes[from..end].to_vec();
    state.sent.push((request.path.clone(), from..end));
    Response { status: "206 Partial Content", headers, body }
}

/// The objects and folders right below a prefix.
fn list(bucket: &str, query: &HashMap<String, String>, state: &State) -> Response {
    let prefix = query.get("prefix").map_or("", String::as_str);
    let mut text = String::from("<ListBucketResult><IsTruncated>false</IsTruncated>");
    let mut folders = Vec::new();
    for (path, bytes) in &state.objects {
        let Some(key) = path.strip_prefix(&format!("{bucket}/")) else { continue };
        let Some(rest) = key.strip_prefix(prefix) else { continue };
        match rest.split_once('/') {
            Some((folder, _)) => folders.push(format!("{prefix}{folder}/")),
            None => {
                text += &format!(
                    "<Contents><Key>{key}</Key><Size>{}</Size>\
                     <LastModified>2025-01-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag></Contents>",
                    bytes.len()
                );
            }
        }
    }
    folders.dedup();
    for folder in folders {
        text += &format!("<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>");
    }
    Response::new("200 OK", text + "</ListBucketResult>")
}
