//! PDFs that cannot be read as a whole.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A PDF of two pages, of which the second one names a font that there is not: only the first can be read.
pub fn torn_pdf() -> Vec<u8> {
    let page = |contents: u32| {
        format!(
            "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> >> /Contents {contents} 0 R >>"
        )
    };
    let text = |font: &str, text: &str| {
        let stream = format!("BT /{font} 12 Tf 50 700 Td ({text}) Tj ET");
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len())
    };
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /MediaBox [0 0 600 800] >>".to_owned(),
        page(6),
        page(7),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        text("F1", "A mast holds the zeppelin."),
        text("F9", "Hydrogen burns."),
    ];
    pdf(&objects.map(String::into_bytes))
}

/// A PDF of 2 MB whose one page inflates to 2 GiB.
pub fn inflating_pdf() -> Vec<u8> {
    // Blocks that stand alone may be repeated.
    let mut block = ZlibEncoder::new(Vec::new(), Compression::best());
    block.write_all(&[b' '; 1 << 20]).unwrap();
    block.flush().unwrap();
    let head = 2;
    let mut inflating = block.get_ref()[..head].to_vec();
    inflating.extend(block.get_ref()[head..].repeat(2_048));
    let mut contents =
        format!("<< /Filter /FlateDecode /Length {} >>\nstream\n", inflating.len()).into_bytes();
    contents.extend(inflating);
    contents.extend(b"\nendstream");
    pdf(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 600 800] >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Resources << >> /Contents 4 0 R >>".to_vec(),
        contents,
    ])
}

/// A PDF of these objects; the first is its catalog.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let (mut file, mut places) = (b"%PDF-1.4\n".to_vec(), String::new());
    for (object, number) in objects.iter().zip(1..) {
        places.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.extend(format!("{number} 0 obj\n").bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let (table, size) = (file.len(), objects.len() + 1);
    file.extend(format!("xref\n0 {size}\n0000000000 65535 f \n{places}").bytes());
    file.extend(format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n").bytes());
    file
}
