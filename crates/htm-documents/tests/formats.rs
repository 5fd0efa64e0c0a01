//! Each format with its structure.

use htm_core::DocumentKind;
use htm_core::tag::TagRules;
use htm_documents::{Cutting, MAX_FILE_BYTES, Read, Unreadable, kind_of, read};

const CUTTING: Cutting = Cutting { size: 300, overlap: 0, least: 0 };

fn of(name: &str, text: &str) -> Read {
    read(name, text.as_bytes(), &CUTTING).expect("read")
}

/// The headings of each passage, and its text.
fn shown(read: &Read) -> Vec<(String, String)> {
    let shown = |passage: &htm_documents::Passage| {
        (passage.heading.join(" / "), read.text[passage.body..passage.range.end].trim().to_owned())
    };
    read.passages.iter().map(shown).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(heading, text)| ((*heading).into(), (*text).into())).collect()
}

#[test]
fn markdown_is_cut_at_its_headings() {
    let text = "---\ntitle: The guide\ntags: [ops]\n---\nFirst words.\n\n# Set *up*\n\n## Linux\n\nRun it.\n\n\
                ```\n# not a heading\n```\n\nUnderlined\n----------\n\nMore.\n";
    let read = of("docs/a.md", text);
    assert_eq!(read.title.as_deref(), Some("The guide"));
    assert_eq!(read.tags, ["ops"]);
    let expected = pairs(&[
        ("", "First words."),
        ("Set up / Linux", "Run it.\n\n```\n# not a heading\n```"),
        ("Set up / Underlined", "More."),
    ]);
    assert_eq!(shown(&read), expected);
    assert_eq!(read.passages.iter().map(|it| it.line).collect::<Vec<_>>(), [5, 7, 17]);
}

#[test]
fn the_only_outermost_heading_is_the_title() {
    assert_eq!(of("a.md", "# One\n\nx\n\n## Two\n\ny\n").title.as_deref(), Some("One"));
    assert_eq!(of("a.md", "# One\n\nx\n\n# Two\n\ny\n").title, None);
    assert_eq!(of("a.md", "No heading.\n").title, None);
}

#[test]
fn long_sections_are_cut_at_blocks_and_repeat_an_end() {
    let paragraph = |word: &str| format!("{} end of {word}.", format!("{word} ").repeat(20).trim());
    let text = format!("# A\n\n{}\n\n{}\n\n{}\n", paragraph("one"), paragraph("two"), paragraph("three"));
    let read = of("a.md", &text);
    let starts: Vec<&str> =
        read.passages.iter().map(|it| read.text[it.body..].trim_start().split(' ').next().unwrap()).collect();
    assert_eq!(starts, ["one", "three"]);
    let overlapping = Cutting { overlap: 60, ..CUTTING };
    let read = htm_documents::read("a.md", text.as_bytes(), &overlapping).unwrap();
    let second = &read.text[read.passages[1].range.clone()];
    assert!(second.starts_with("two") && second.contains("end of two.\n\nthree"), "{second}");
}

/// A run without spaces has no word to end at.
#[test]
fn a_letter_stays_with_its_marks() {
    for letter in [
        "\u{e19}\u{e49}",
        "\u{915}\u{93f}\u{902}",
        "e\u{301}\u{323}",
        "\u{1f1e9}\u{1f1ea}",
        "\u{1f44d}\u{1f3fd}",
        "\u{1f469}\u{200d}\u{1f467}",
    ] {
        let read = of("a.txt", &letter.repeat(701));
        assert!(read.passages.len() > 2);
        for passage in &read.passages {
            let text = &read.text[passage.range.clone()];
            assert_eq!(text.replace(letter, ""), "", "{letter}");
        }
    }
}

#[test]
fn no_passage_repeats_the_end_of_a_block_of_code() {
    let paragraph = "Then tell the others. ".repeat(11);
    let text = format!(
        "# Deploy\n\nStop it.\n\n```sh\ncargo build --release\nscp app host:/srv\n```\n\n{paragraph}\n"
    );
    let overlapping = Cutting { overlap: 40, ..CUTTING };
    let read = htm_documents::read("a.md", text.as_bytes(), &overlapping).unwrap();
    let texts: Vec<&str> = read.passages.iter().map(|it| &read.text[it.range.clone()]).collect();
    assert_eq!(texts, [text[..text.find("\n\nThen").unwrap()].trim(), paragraph.trim()]);
}

#[test]
fn a_heading_stays_with_the_large_block_below_it() {
    let paragraph = "Hold the button for ten seconds, until the light blinks twice. ".repeat(27);
    let row = format!("| {} | a router |\n", "word ".repeat(40));
    let table = format!("| Step | Of |\n|---|---|\n{}", row.repeat(12));
    for block in [&paragraph, &table] {
        let read =
            read("a.md", format!("# Reset the router\n\n{block}").as_bytes(), &Cutting::default()).unwrap();
        assert!(read.passages.len() > 1);
        for passage in &read.passages {
            let text = read.text[passage.body..passage.range.end].trim();
            assert!(!text.is_empty(), "{:?}", read.passages);
        }
    }
}

#[test]
fn short_sections_are_put_together_below_their_heading() {
    let text =
        "# Errors\n\n## E1\n\n### A\n\nOne.\n\n### B\n\nTwo.\n\n## E2\n\n### C\n\nThree.\n\n### D\n\nFour.\n";
    let cutting = Cutting { least: 100, ..CUTTING };
    let read = htm_documents::read("a.md", text.as_bytes(), &cutting).unwrap();
    let expected = pairs(&[("Errors", text.trim())]);
    assert_eq!(shown(&read), expected);
}

#[test]
fn sections_of_two_chapters_are_not_put_together() {
    let text = "# Guide\n\n## Postgres\n\n### Ports\n\n5432.\n\n## Redis\n\n6379.\n";
    let cutting = Cutting { least: 100, ..CUTTING };
    let read = htm_documents::read("a.md", text.as_bytes(), &cutting).unwrap();
    let expected = pairs(&[("Guide / Postgres / Ports", "5432."), ("Guide / Redis", "6379.")]);
    assert_eq!(shown(&read), expected);
}

#[test]
fn html_is_read_without_what_is_around_it() {
    let page = "<!doctype html><html><head><title>The\n manual</title><style>p { x: y }</style></head><body>\
        <nav><a href=x>Home</a></nav><main><h1>Manual<a href=#x>¶</a></h1><p>Some  <b>words</b>,\n and more&nbsp;&amp; more.</p>\
        <h2 id=x>Options</h2><ul><li>one<li>two</ul><pre>  a\n    b</pre><table><tr><th>k<th>v</tr><tr><td>1<td>2</table>\
        <script>if (a < b) { '<h2>no</h2>' }</script></main><footer>2026</footer></body></html>";
    let read = of("a.html", page);
    assert_eq!((read.kind, read.title.as_deref()), (DocumentKind::Html, Some("Manual")));
    let expected = pairs(&[
        ("Manual", "Some words, and more\u{a0}& more."),
        ("Manual / Options", "- one\n- two\n\n  a\n    b\n\nk | v\n1 | 2"),
    ]);
    assert_eq!(shown(&read), expected);
}

#[test]
fn a_page_of_several_articles_is_read_whole() {
    for (page, there) in [
        (
            "<div>the long manual itself</div><article>a teaser</article>",
            &["the long manual", "a teaser"][..],
        ),
        ("<article>the first post</article><article>an answer</article>", &["the first post", "an answer"]),
        ("<main>the manual</main><article>a much longer article beside it</article>", &["the manual"]),
        ("<div>x</div><article>nearly all of the text</article>", &["nearly all"]),
    ] {
        let text = of("a.html", page).text;
        assert!(there.iter().all(|it| text.contains(it)), "{page}: {text}");
    }
    let text = of("a.html", "<div>menu</div><article>nearly all of the text</article>").text;
    assert!(!text.contains("menu"), "{text}");
}

#[test]
fn a_heading_that_is_cut_loses_no_word() {
    let long = (0..60).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
    for (name, text) in
        [("a.md", format!("{long}\n---\n\nBelow it.\n")), ("a.html", format!("<h1>{long}<p>Below it."))]
    {
        let shown = shown(&of(name, &text));
        assert!(shown.iter().any(|(_, body)| body.contains("word59")), "{name}: {shown:?}");
    }
}

#[test]
fn a_tag_has_a_largest_number_of_attributes() {
    let attributes = |count: usize| (0..count).map(|at| format!(" a{at}=b")).collect::<String>();
    let many = attributes(300_000);
    let fewer = attributes(3_000);
    for page in [
        format!("<p{many}>x</p>"),
        format!("<script>a<b</script></p{many}>x"),
        format!("</><p{many}>x"),
        format!("AT&T<p{many}>x"),
        format!("<p a='>' <b{many}>x"),
        format!("<p{many}"),
        format!("<p{}>x", " a".repeat(300_000)),
    ] {
        assert_eq!(read("a.html", page.as_bytes(), &CUTTING).unwrap_err(), Unreadable::TooLarge);
    }
    for page in [
        format!("<p{}>x", attributes(1_000)),
        format!("<p title='{many}'>x"),
        format!("x<!--<p{fewer}> --><!-- {fewer} -->"),
        format!("<script>if (a<b{fewer}) </script>x"),
        format!("<title>t<p{fewer}</title>x"),
        format!("<p>x <{fewer}<!doctype {fewer}>"),
    ] {
        assert!(of("a.html", &page).text.contains('x'), "{}", &page[..40]);
    }
}

#[test]
fn html_that_never_ends_is_read_as_well() {
    for (page, text) in [
        ("<nav><p>All of it", "All of it"),
        ("<p>a<script>b", "a"),
        ("plain < text", "plain < text"),
        ("<main></main><p>outside", "outside"),
        ("</main></p></nav>x", "x"),
    ] {
        assert_eq!(of("a.html", page).text.trim(), text, "{page}");
    }
    assert_eq!(read("a.html", b"<script>x</script>", &CUTTING).unwrap_err(), Unreadable::Empty);
}

#[test]
fn an_element_of_xhtml_may_be_empty() {
    let page = "<html><head><title/><script src=\"a.js\"/><style/></head><body><h1>Guide</h1><pre/><iframe src=\"b\"/>\
                <p>Some  words.</p><main/></body></html>";
    let declared = format!("<?xml version=\"1.0\"?>\n{page}");
    for (name, page) in [("a.XHTML", page), ("a.html", declared.as_str())] {
        let read = of(name, page);
        assert_eq!(
            (read.text.trim(), read.title.as_deref()),
            ("Guide\n\nSome words.", Some("Guide")),
            "{name}"
        );
    }
    assert_eq!(read("a.html", page.as_bytes(), &CUTTING).unwrap_err(), Unreadable::Empty);
}

#[test]
fn line_breaks_of_preformatted_text_are_kept_whatever_stands_in_them() {
    // It would take minutes if each element looked at all of them.
    let page = format!("First.<pre>{}{}Last.</pre>", "\n".repeat(100_000), "<p>".repeat(50_000));
    let read = of("a.html", &page);
    assert!(read.text.trim_end() == format!("First.{}Last.", "\n".repeat(100_002)), "{:?}", shown(&read));
    assert_eq!(shown(&read), pairs(&[("", "First."), ("", "Last.")]));
}

#[test]
fn code_is_cut_at_its_definitions() {
    let text = "//! A module.\n\nuse a::b;\n\n/// Adds.\n#[inline]\npub fn add(a: i32) -> i32 {\n    a + 1\n}\n\
                impl Foo {\n    /// Shows.\n    fn show(&self) {\n        print();\n    }\n}\n";
    let read = of("src/a.rs", text);
    assert_eq!(read.kind, DocumentKind::Code);
    let headings: Vec<String> = shown(&read).into_iter().map(|(heading, _)| heading).collect();
    assert_eq!(headings, ["", "pub fn add(a: i32) -> i32", "impl Foo"]);
    assert!(shown(&read)[1].1.starts_with("/// Adds."), "{:?}", shown(&read)[1]);
    let long = format!(
        "class A:\n    x = 1\n\n    def one(self):\n        {}\n\n    @wrapped\n    def two(self):\n        pass\n\nprint(A)\n",
        "do()\n        ".repeat(40)
    );
    let read = of("a.py", &long);
    let headings: Vec<String> = shown(&read).into_iter().map(|(heading, _)| heading).collect();
    assert!(headings.contains(&"class A / def one(self)".to_owned()), "{headings:?}");
    assert!(headings.contains(&"class A / def two(self)".to_owned()), "{headings:?}");
}

#[test]
fn text_has_paragraphs_and_underlined_headings() {
    let read = of("a.rst", "Guide\n=====\n\nWords.\n\nPart\n----\n\nMore.\n\nNext\n----\n\nLast.\n");
    let expected = pairs(&[("Guide", "Words."), ("Guide / Part", "More."), ("Guide / Next", "Last.")]);
    assert_eq!(shown(&read), expected);
    assert_eq!(read.title.as_deref(), Some("Guide"));
}

#[test]
fn what_is_no_document_is_named() {
    let reason = |name: &str, bytes: &[u8]| read(name, bytes, &CUTTING).unwrap_err();
    assert_eq!(reason("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Unreadable::Binary);
    assert_eq!(reason("a.txt", b"caf\xe9"), Unreadable::NotUtf8);
    assert_eq!(reason("a.bin", b"\x01\x02\xff\xfe"), Unreadable::Binary);
    assert_eq!(reason("a.md", b""), Unreadable::Empty);
    assert_eq!(reason("a.md", b"---\ntitle: x\n---\n"), Unreadable::Empty);
    assert_eq!(reason("a.pdf", b"no pdf"), Unreadable::Damaged);
    assert_eq!(reason("a.pdf", b"%PDF-1.4\nnothing"), Unreadable::Damaged);
    assert_eq!(reason("a.txt", &vec![b'x'; MAX_FILE_BYTES + 1]), Unreadable::TooLarge);
    assert_eq!(reason("a.pdf", &pdf(Some("x"))), Unreadable::Encrypted);
}

#[test]
fn too_many_sections_are_too_large() {
    // Put together, they would be few passages.
    let sections = 25 * htm_core::MAX_PASSAGES + 1;
    for (name, section) in [("a.md", "# a\n"), ("a.rst", "a\n---\n"), ("a.py", "a\n b\n")] {
        let text = section.repeat(sections);
        let refused = read(name, text.as_bytes(), &Cutting::default()).unwrap_err();
        assert_eq!(refused, Unreadable::TooLarge, "{name}");
        assert!(read(name, &text.as_bytes()[..section.len() * 1_000], &Cutting::default()).is_ok(), "{name}");
    }
}

#[test]
fn a_pdf_has_pages() {
    let read = read("a.pdf", &pdf(None), &CUTTING).unwrap();
    assert_eq!(read.kind, DocumentKind::Pdf);
    assert_eq!(read.passages.iter().map(|it| it.page).collect::<Vec<_>>(), [Some(1), Some(2)]);
    assert_eq!(shown(&read), pairs(&[("", "Page one."), ("", "Page two.")]));
}

#[test]
fn a_page_that_cannot_be_read_is_named() {
    let whole = String::from_utf8(pdf(None)).unwrap();
    // There is no font of this name.
    let torn = whole.replace("/F1 12 Tf 50 700 Td (Page two.)", "/F9 12 Tf 50 700 Td (Page two.)");
    let of_torn = read("a.pdf", torn.as_bytes(), &CUTTING).unwrap();
    assert_eq!((shown(&of_torn), of_torn.pages_left_out), (pairs(&[("", "Page one.")]), vec![2]));
    assert!(read("a.pdf", whole.as_bytes(), &CUTTING).unwrap().pages_left_out.is_empty());
    // A page without a text does not tell that the other one has none.
    let blank = torn.replace("(Page one.)", "(         )");
    assert_eq!(read("a.pdf", blank.as_bytes(), &CUTTING).unwrap_err(), Unreadable::Damaged);
    let without_pages = whole.replace("3 0 R 4 0 R", &" ".repeat(11));
    assert_eq!(read("a.pdf", without_pages.as_bytes(), &CUTTING).unwrap_err(), Unreadable::Damaged);
}

#[test]
fn a_page_that_is_nested_without_end_is_left_out() {
    let of = |parent: &str, drawn: &str| {
        let page = |parent: &str, forms: &str, contents: u8| {
            let resources = format!("<< /Font << /F1 5 0 R >> {forms} >>");
            format!("<< /Type /Page /Parent {parent} /Resources {resources} /Contents {contents} 0 R >>")
        };
        let stream = |kind: &str, content: &str| {
            format!("<< {kind} /Length {} >>\nstream\n{content}\nendstream", content.len())
        };
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /MediaBox [0 0 600 800] >>".to_owned(),
            page(parent, "/XObject << /X 8 0 R >>", 6),
            page("2 0 R", "", 7),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
            stream("", "/X Do"),
            stream("", "BT /F1 12 Tf 50 700 Td (Page two.) Tj ET"),
            stream("/Type /XObject /Subtype /Form", drawn),
        ];
        let read = read("a.pdf", &written(&objects, ""), &CUTTING).unwrap();
        (shown(&read), read.pages_left_out)
    };
    let text = "BT /F1 12 Tf 50 700 Td (In a form.) Tj ET";
    assert_eq!(of("2 0 R", text), (pairs(&[("", "In a form."), ("", "Page two.")]), vec![]));
    // A form that draws itself, and a page that is its own parent: the stack of a thread would overflow.
    for (parent, drawn) in [("2 0 R", "/X Do"), ("3 0 R", text)] {
        assert_eq!(of(parent, drawn), (pairs(&[("", "Page two.")]), vec![1]));
    }
}

#[test]
fn a_passage_begins_with_its_headings() {
    let read = of("docs/a.md", "# Guide\n\n## Set up\n\nRun it.\n");
    let (document, left_out) = read.document("docs/a.md", 30, &TagRules::default(), &[]);
    assert!(left_out.is_empty());
    assert_eq!(document.passages[0].content, "Guide › Set up\n\nRun it.");
    let read = of("notes.txt", "---\ntags: [c++, sql]\n---\nJust words.\n");
    let (document, left_out) =
        read.document("docs/notes.txt", 30, &TagRules::default(), &["a:b".parse().unwrap()]);
    assert_eq!(document.passages[0].content, "notes.txt\n\nJust words.");
    assert_eq!(left_out, ["c++"]);
    let described = of("a.md", "---\ntitle: Ships\ndescription: All about\n  ships.\n---\n");
    let (about, _) = described.document("a.md", 30, &TagRules::default(), &[]);
    assert_eq!(about.passages[0].content, "Ships\n\nAll about ships.");
    assert_eq!(document.tags.iter().map(|tag| tag.as_str()).collect::<Vec<_>>(), ["a:b", "sql"]);
}

#[test]
fn another_cut_is_another_digest() {
    let digest = |size: usize| read("a.md", b"x", &Cutting { size, ..CUTTING }).unwrap().digest;
    assert_eq!(digest(300), digest(300));
    assert_ne!(digest(300), digest(400));
}

#[test]
fn the_name_tells_the_kind() {
    assert_eq!(kind_of("a/b.MD"), Some(DocumentKind::Markdown));
    assert_eq!(kind_of("a.b/Makefile"), None);
    assert_eq!(read("LICENSE", b"Words.", &CUTTING).unwrap().kind, DocumentKind::Text);
}

/// A PDF of two pages, written by hand; encrypted if there is a password.
fn pdf(password: Option<&str>) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /MediaBox [0 0 600 800] >>".to_owned(),
    ];
    for contents in [6, 7] {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> >> /Contents {contents} 0 R >>"
        ));
    }
    objects
        .push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned());
    for text in ["Page one.", "Page two."] {
        let stream = format!("BT /F1 12 Tf 50 700 Td ({text}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    if password.is_some() {
        let key = "00".repeat(32);
        objects.push(format!("<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -44 >>"));
    }
    written(&objects, password.map_or("", |_| "/Encrypt 8 0 R /ID [<00> <00>]"))
}

/// A PDF of these objects, the first of which is the catalog.
fn written(objects: &[String], encrypt: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", number + 1).bytes());
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| file.extend(format!("{place:010} 00000 n \n").bytes()));
    let trailer = format!(
        "trailer\n<< /Size {} /Root 1 0 R {encrypt} >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    file.extend(trailer.bytes());
    file
}
