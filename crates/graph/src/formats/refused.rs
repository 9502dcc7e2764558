//! Kinds of files that Parton does not read, recognised so that none is taken for an edge list: what
//! each is called, and what to do with it.

use crate::source::Source;
use crate::text::detect::is_text;
use crate::text::skip_mark;

/// A kind of file, how it is recognised and what helps.
struct Kind {
    name: &'static str,
    is: fn(&[u8]) -> bool,
    help: &'static str,
}

const AS_NETWORKX: &str = "convert it, for example with networkx, to GraphML or an edge list";
const AS_TABLE: &str = "export a table of edges as CSV or Parquet";

/// A kind that its first bytes tell.
macro_rules! magic {
    ($name:literal, $magic:literal, $help:expr) => {
        Kind { name: $name, is: |head| head.starts_with($magic), help: $help }
    };
}

/// All kinds, the more special before the more general.
const KINDS: &[Kind] = &[
    Kind { name: "an Excel workbook", is: is_workbook, help: AS_TABLE },
    magic!("a zip archive", b"PK\x03\x04", "unpack it: unzip -p FILE | parton … -"),
    magic!("a 7z archive", b"7z\xbc\xaf\x27\x1c", "unpack it: 7z x -so FILE | parton … -"),
    magic!("a rar archive", b"Rar!\x1a\x07", "unpack it: unrar p -inul FILE | parton … -"),
    magic!("packed by compress (.Z)", b"\x1f\x9d", "unpack it: gzip -dc FILE | parton … -"),
    magic!(
        "packed by xz's older format (.lzma)",
        b"\x5d\0\0",
        "unpack it: xz -dc FILE | parton … -"
    ),
    magic!(
        "packed by snappy (.sz)",
        b"\xff\x06\0\0sNaPpY",
        "unpack it: snzip -dc FILE | parton … -"
    ),
    magic!("packed by lzip (.lz)", b"LZIP", "unpack it: lzip -dc FILE | parton … -"),
    Kind { name: "a tar archive", is: is_tar, help: "unpack it: tar -xOf FILE | parton … -" },
    magic!("an SQLite database", b"SQLite format 3\0", AS_TABLE),
    magic!("HDF5", b"\x89HDF\r\n\x1a\n", AS_TABLE),
    magic!("Feather version 1", b"FEA1", "write version 2: pyarrow.feather.write_feather"),
    magic!("ORC", b"ORC", "write it as Parquet"),
    magic!("Avro", b"Obj\x01", "write it as Parquet"),
    magic!("a NumPy array", b"\x93NUMPY", "save a table of edges: numpy.savetxt or Parquet"),
    magic!("a MATLAB file", b"MATLAB 5.0", "write it as Matrix Market: scipy.io.mmwrite"),
    magic!("an R data file", b"RDX", AS_TABLE),
    magic!("an R data file", b"X\n\0\0\0", AS_TABLE),
    Kind { name: "a Python pickle", is: is_pickle, help: AS_TABLE },
    magic!("PDF", b"%PDF-", AS_TABLE),
    magic!("a pointer of Git LFS", b"version https://git-lfs", "get the file: git lfs pull"),
    Kind { name: "a web page (HTML)", is: is_html, help: "download the file itself" },
    Kind { name: "GEXF", is: |head| is_xml_with(head, b"<gexf"), help: AS_NETWORKX },
    Kind { name: "RDF/XML", is: |head| is_xml_with(head, b":RDF"), help: AS_TABLE },
    Kind { name: "RDF triples", is: is_triples, help: AS_TABLE },
    Kind { name: "XML", is: is_xml, help: "Parton reads GraphML; convert it, or export a table" },
    Kind { name: "DOT (Graphviz)", is: is_dot, help: AS_NETWORKX },
    Kind { name: "Pajek", is: is_pajek, help: AS_NETWORKX },
    Kind { name: "GDF", is: |head| first_word_is(head, &["nodedef>", "edgedef>"]), help: AS_TABLE },
    Kind { name: "UCINET DL", is: is_ucinet, help: AS_TABLE },
    magic!("LEDA", b"LEDA.GRAPH", AS_NETWORKX),
    magic!("graph6", b">>graph6<<", AS_NETWORKX),
    magic!("sparse6", b">>sparse6<<", AS_NETWORKX),
];

/// What the input is and what to do, if it is of a kind that is not read.
pub(super) fn refusal(source: &Source) -> Option<String> {
    let head = skip_mark(source.head());
    let kind = KINDS.iter().find(|kind| (kind.is)(head));
    // Brotli leaves no mark: its name tells it.
    let is_brotli = source.name().ends_with(".br") && !is_text(head);
    let (name, help) = match kind {
        Some(kind) => (kind.name, kind.help),
        None if is_brotli => ("packed by brotli (.br)", "unpack it: brotli -dc FILE | parton … -"),
        None => return None,
    };
    Some(format!("this is {name}, which Parton does not read; {help}"))
}

fn contains(head: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(head, word).is_some()
}

fn is_workbook(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04")
        && (contains(head, b"xl/workbook") || contains(head, b"[Content_Types].xml"))
}

fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

fn is_pickle(head: &[u8]) -> bool {
    matches!(head, [0x80, 2..=5, ..])
}

/// Whether the text starts with this, in any case.
fn starts_with_word(text: &[u8], word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

fn first_word_is(head: &[u8], words: &[&str]) -> bool {
    let text = head.trim_ascii_start();
    words.iter().any(|word| starts_with_word(text, word))
}

fn is_html(head: &[u8]) -> bool {
    first_word_is(head, &["<!doctype html", "<html"])
}

fn is_xml(head: &[u8]) -> bool {
    match head.trim_ascii_start() {
        [b'<', b'?' | b'!', ..] => true,
        [b'<', rest @ ..] => {
            // An element's name, then its end or an attribute: `<a>` alone may be a vertex's name.
            let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b':').count();
            name > 0 && contains(&rest[name..], b"</")
        }
        _ => false,
    }
}

fn is_xml_with(head: &[u8], tag: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"<") && contains(head, tag)
}

/// N-Triples, N-Quads and Turtle.
fn is_triples(head: &[u8]) -> bool {
    let prefixes = ["@prefix ", "@base ", "prefix ", "base "];
    let mut lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let Some(first) = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")) else {
        return false;
    };
    let is_prefix = prefixes.iter().any(|word| starts_with_word(first, word));
    is_prefix && contains(first, b"<")
        || (first.starts_with(b"<") || first.starts_with(b"_:"))
            && first.ends_with(b".")
            && contains(first, b" <")
}

/// The text after comments as in C, and lines that start with `#`.
fn after_comments(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let end = match text {
            [b'/', b'*', ..] => memchr::memmem::find(text, b"*/").map(|at| at + 2),
            [b'/', b'/', ..] | [b'#', ..] => memchr::memchr(b'\n', text),
            _ => return text,
        };
        text = end.map_or(&[][..], |end| &text[end..]);
    }
}

/// `[strict] graph|digraph [name] {`
fn is_dot(head: &[u8]) -> bool {
    let text = after_comments(head);
    let text = match starts_with_word(text, "strict") {
        true => text[6..].trim_ascii_start(),
        false => text,
    };
    let word = text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let is_graph =
        |word: &[u8]| word.eq_ignore_ascii_case(b"graph") || word.eq_ignore_ascii_case(b"digraph");
    let rest = &text[word..];
    let name_ends = rest.iter().position(|b| matches!(b, b'{' | b';' | b'['));
    is_graph(&text[..word])
        && name_ends.is_some_and(|at| {
            rest[at] == b'{' && rest[..at].trim_ascii().iter().all(|&b| b != b'\n')
        })
}

fn is_pajek(head: &[u8]) -> bool {
    let mut lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"%"));
    let words = ["*vertices", "*network", "*arcs", "*edges", "*matrix"];
    first.is_some_and(|line| words.iter().any(|word| starts_with_word(line, word)))
}

fn is_ucinet(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    let after = || text[2..].trim_ascii_start();
    let is_blank = |b: &u8| b.is_ascii_whitespace();
    starts_with_word(text, "dl")
        && text.get(2).is_some_and(is_blank)
        && ["n=", "n =", "nr=", "nr =", "nm="].iter().any(|word| starts_with_word(after(), word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::detect;

    fn refused_as(bytes: &[u8]) -> Option<String> {
        match detect(&Source::memory("file", bytes).unwrap()) {
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        }
    }

    #[test]
    fn files_of_other_programs_are_refused_by_name() {
        let tar = [&[b'e'; 257][..], b"ustar\x0000"].concat();
        let workbook = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0[Content_Types].xml ";
        let cases: &[(&[u8], &str)] = &[
            (workbook, "Excel"),
            (b"PK\x03\x04\x14\0\0\0edges.csv", "unzip -p"),
            (b"7z\xbc\xaf\x27\x1c\0\x04", "7z x -so"),
            (b"Rar!\x1a\x07\x01\0", "unrar"),
            (b"\x1f\x9d\x90\x31", "compress (.Z)"),
            (b"\x5d\0\0\x80\0\xff\xff\xff\xff", "xz -dc"),
            (b"\xff\x06\0\0sNaPpY\x01", "snzip -dc"),
            (&tar, "tar -xOf"),
            (b"SQLite format 3\0\x10\0", "SQLite"),
            (b"\x89HDF\r\n\x1a\n\0", "HDF5"),
            (b"FEA1\0\0\0\0", "Feather version 1"),
            (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
            (b"<!DOCTYPE html>\n<html>", "HTML"),
            (b"\n<HTML><head>", "HTML"),
            (b"<?xml version='1.0'?>\n<gexf xmlns='x' version='1.3'><graph>", "GEXF"),
            (b"<?xml version=\"1.0\"?>\n<rdf:RDF xmlns:rdf='x'>", "RDF/XML"),
            (b"<svg xmlns='x'><g></g></svg>", "XML"),
            (b"<http://a/b> <http://a/knows> <http://a/c> .\n", "RDF triples"),
            (b"_:a <http://a/knows> _:c .\n", "RDF triples"),
            (b"# c\n@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n", "RDF triples"),
            (b"graph {\n a -- b;\n}\n", "DOT"),
            (b"// made by hand\nstrict digraph \"G\" {\n1 -> 2;\n}\n", "DOT"),
            (b"/* x\n y */ digraph G{a->b}", "DOT"),
            (b"*Vertices 3\n1 \"a\"\n*Arcs\n1 2 1\n", "Pajek"),
            (b"% comment\n*vertices      3\n", "Pajek"),
            (b"nodedef>name VARCHAR,label VARCHAR\n", "GDF"),
            (b"dl n=3 format=edgelist1\n", "UCINET"),
            (b"LEDA.GRAPH\nstring\n", "LEDA"),
            (b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
            (b"\x80\x04\x95\x12", "pickle"),
            (b"\x93NUMPY\x01\0", "NumPy"),
        ];
        for (bytes, name) in cases {
            let message = refused_as(bytes).unwrap_or_else(|| panic!("{name} is not refused"));
            assert!(message.starts_with("file: ") && message.contains(name), "{message}");
        }
    }

    #[test]
    fn brotli_is_told_by_its_name() {
        let packed = Source::memory("g.csv.br", &b"\x0b\x05\x80source,target\n\x03"[..]).unwrap();
        let message = detect(&packed).err().unwrap().to_string();
        assert!(message.contains("brotli -dc FILE | parton"), "{message}");
        assert!(detect(&Source::memory("g.csv.br", &b"1,2\n"[..]).unwrap()).is_ok());
    }

    #[test]
    fn edge_lists_of_odd_names_are_not_refused() {
        for text in
            ["graph node\nnode x\n", "*a b\n", "<a> <b>\n", "dl n\n", "# c\n1 2\n", "LZ IP\n"]
        {
            assert_eq!(refused_as(text.as_bytes()), None, "{text}");
        }
    }
}
