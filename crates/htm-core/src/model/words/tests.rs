use proptest::prelude::*;

use super::*;

fn signs(text: &str) -> Vec<(SignKind, String)> {
    Words::parse(text).signs.into_iter().map(|sign| (sign.kind, sign.text)).collect()
}

fn of(kind: SignKind, texts: &[&str]) -> Vec<(SignKind, String)> {
    texts.iter().map(|text| (kind, (*text).to_owned())).collect()
}

#[test]
fn what_has_no_signs_is_as_it_was() {
    for text in [
        "",
        "which database did we choose?",
        "the co-occurring state-of-the-art",
        "don't O'Brien's",
        "a dash - between spaces – and another",
        "5'10\" tall",
        "an \"unclosed quote",
        "** bold ** a*b *",
        "yes, no; (maybe) [perhaps]!",
        "  white   space  ",
        "-",
        "--",
        "- -",
        "\"\" \" \"",
        "week,as",
    ] {
        assert_eq!(Words::parse(text), Words { plain: text.into(), ..Words::default() }, "{text}");
    }
}

#[test]
fn a_quotation_of_nothing_says_nothing() {
    for text in ["", " \n", "\"\"", "“ ”", " \"\" „“ «\u{a0}» ", "\""] {
        assert!(is_blank(text), "{text}");
    }
    for text in ["\"a\"", "🙂", "?", "-", "\"?\""] {
        assert!(!is_blank(text), "{text}");
    }
}

#[test]
fn quotes_are_phrases_where_there_are_only_signs() {
    let text = "\"night  watch\" “the owls” (\"a b\") C++";
    let words = Words::parse(text);
    assert_eq!(words.plain, "night watch the owls (a b) C++");
    let mut expected = of(SignKind::Phrase, &["night watch", "the owls", "a b"]);
    expected.extend(of(SignKind::Term, &["C++"]));
    assert_eq!(signs(text), expected);
    assert!(words.filters());
    for text in ["\"to be, or not to be.\"", "\"night watch\" -staging", "owl* \"night watch\" 17.2"] {
        assert!(Words::parse(text).has(SignKind::Phrase), "{text}");
    }
}

#[test]
fn quotes_beside_words_are_wishes() {
    let text = "castle \"night watch\" sky";
    assert_eq!(signs(text), of(SignKind::Quotation, &["night watch"]));
    assert_eq!(Words::parse(text).plain, "castle night watch sky");
    // A sentence stays as it is.
    for text in [
        "Who read \"The Alchemist\"?",
        "I read \"The Alchemist\".",
        "We never found out who it was that read \"The Alchemist\" aloud",
        "the list -\"The Alchemist\" among others- was long",
    ] {
        assert_eq!(signs(text), of(SignKind::Quotation, &["The Alchemist"]), "{text}");
        assert_eq!(Words::parse(text).plain, text);
    }
    assert!(signs("They call it \"smart\", and it is not.").is_empty());
    assert_eq!(signs("castle \"watch\""), of(SignKind::Quotation, &["watch"]));
}

/// Pasted texts: documents, instructions, and terminal output.
#[test]
fn sentences_require_nothing() {
    let page = include_str!("pasted.txt");
    let texts: Vec<&str> = page.split("\n\n").map(str::trim).filter(|text| !text.is_empty()).collect();
    assert!(texts.len() > 20);
    for text in texts {
        let words = Words::parse(text);
        assert!(!words.filters(), "{text}: {:?}", words.signs);
        assert_eq!(words.plain, text);
    }
}

#[test]
fn a_dash_before_a_word_is_a_no() {
    let words = Words::parse("-mysql postgres -\"night watch\" -foo_bar, -17.2.");
    assert_eq!(words.plain, "postgres");
    let without: Vec<_> = words.signs.iter().map(|sign| (sign.text.as_str(), sign.written)).collect();
    assert_eq!(without, [("mysql", false), ("night watch", false), ("foo_bar", true), ("17.2", true)]);
    assert!(words.signs.iter().all(|sign| sign.kind == SignKind::Without));
    assert!(signs("state - of -- the--art co-occurring").iter().all(|(kind, _)| *kind != SignKind::Without));
    for dash in ['–', '—', '−', '－'] {
        let words = Words::parse(&format!("{dash}mysql postgres {dash}\"night watch\" ({dash}ex*"));
        assert_eq!(words.plain, "postgres (", "{dash}");
        let texts: Vec<_> = words.signs.iter().map(|sign| sign.text.as_str()).collect();
        assert_eq!(texts, ["mysql", "night watch", "ex"], "{dash}");
        assert!(words.signs.iter().all(|sign| sign.kind.excludes()), "{dash}");
        for text in [format!("state {dash} of"), format!("1990{dash}2000 a{dash}b")] {
            assert!(!Words::parse(&text).filters(), "{text}");
        }
    }
    // Marks of direction are not seen.
    for text in ["tea \u{200f}-\u{200e}green", "\u{2066}tea\u{2069} -green"] {
        assert_eq!(signs(text), of(SignKind::Without, &["green"]), "{text:?}");
    }
    // That holds for up to four words; more of them are a sentence.
    assert!(Words::parse("notes of last summer -draft").filters());
    assert!(!Words::parse("notes of last summer party -draft").filters());
}

#[test]
fn a_letter_and_its_mark_are_one_letter() {
    let words = Words::parse("tea -Cafe\u{301}");
    assert_eq!((words.plain.as_str(), words.signs[0].text.as_str()), ("tea", "Café"));
}

#[test]
fn terms_as_written_have_one_form() {
    let pattern = |text: &str| Words::parse(text).signs.remove(0).pattern;
    assert_eq!(pattern("\"it's db-08\""), pattern("\"it’s db\u{2011}08\""));
    assert_eq!(pattern("\"cafe\u{301} fine\""), pattern("\"café ﬁne\""));
    assert_eq!(pattern("full*"), pattern("ｆｕｌｌ*"));
    assert!(pattern("--flag").contains("[[:alnum:]_\\-]"));
}

#[test]
fn a_dash_before_a_beginning_excludes_all_words_with_it() {
    assert_eq!(signs("dentist -ex*"), of(SignKind::WithoutPrefix, &["ex"]));
    let words = Words::parse("dentist (-dent*), -foo_b*");
    assert_eq!((words.plain.as_str(), words.filters()), ("dentist (", true));
    let without = |sign: &Sign| (sign.kind, sign.text.clone(), sign.is_as_written(false));
    let signs: Vec<_> = words.signs.iter().map(without).collect();
    assert_eq!(signs[0], (SignKind::WithoutPrefix, "dent".into(), true));
    assert_eq!(signs[1], (SignKind::WithoutPrefix, "foo_b".into(), true));
    assert_eq!(words.signs[0].pattern, beginning("dent"));
    for (text, prefix) in [("-foo_b*,", "foo_b"), ("-db-0*", "db-0"), ("-v1.2*", "v1.2"), ("-db-*", "db-")] {
        let words = Words::parse(text);
        let sign = &words.signs[0];
        assert_eq!((sign.kind, sign.text.as_str(), words.signs.len()), (SignKind::WithoutPrefix, prefix, 1));
        assert_eq!(sign.pattern, beginning(prefix));
    }
}

#[test]
fn exclusions_without_effect_are_told_with_the_reason() {
    let ignored = |text: &str| match ignored_exclusions(text) {
        Some(it) => (it.exclusions.join(" "), it.reason),
        None => (String::new(), ""),
    };
    let is = |text: &str, exclusions: &str, reason: &str| {
        let (found, why) = ignored(text);
        assert_eq!(found, exclusions, "{text}");
        assert!(why.contains(reason), "{text}: {why}");
    };
    is("what did Ava say about the dentist -expensive", "-expensive", "a sentence");
    is("what about the dentist? -\"the bill\" -ex*", "-\"the bill\" -ex*", "a sentence");
    is("parcel -search\nplease", "-search", "several lines");
    is("to do:\n-renew it. -pay it.", "-pay", "several lines");
    is(&format!("{} -search", "parcel ".repeat(200)), "-search", "1,000 characters");
    let many: Vec<String> = (1..=17).map(|n| format!("-a{n}")).collect();
    is(&format!("{} parcel", many.join(" ")), &many.join(" "), "16 signs");
    for text in [
        "dentist -expensive",
        "what did Ava say about it - or him",
        "to do:\n-renew it.\n  -\"the bill\" is next",
        &format!("{} parcel", many[..16].join(" ")),
        "",
    ] {
        assert_eq!(ignored(text), (String::new(), ""), "{text}");
    }
}

#[test]
fn a_star_after_a_word_is_a_beginning() {
    let words = Words::parse("migrat*, and Zepp* (inter*)");
    assert_eq!(words.plain, "migrat, and Zepp (inter)");
    assert_eq!(signs("migrat*, Zepp*"), of(SignKind::Prefix, &["migrat", "Zepp"]));
    assert!(signs("a* a*b f** *x").is_empty());
    assert_eq!(Words::parse("night migrat*, watch").searched(), "night watch");
    assert_eq!(words.signs[1].also.as_deref(), Some("'zepp':* | 'zepp' | 'zep'"));
}

#[test]
fn a_beginning_is_looked_for_without_its_accents_too() {
    let beginnings = |text: &str| Words::parse(text).signs.remove(0).beginnings;
    assert_eq!(beginnings("Zepp*"), ["zepp"]);
    assert_eq!(beginnings("größ*"), ["gröss", "gross"]);
    assert_eq!(beginnings("señór*"), ["señór", "senór", "señor", "senor"]);
    assert_eq!(beginnings("İST*"), ["ist"]);
    assert_eq!(beginnings("ΝΊΚΟΣ*"), ["νίκοσ", "νικοσ"]);
    assert_eq!(beginnings("الثلاث*"), ["الثلاث", "ثلاث"]);
    assert_eq!(beginnings("회의록*"), ["회의록"]);
    // A virama is of its word.
    assert_eq!(signs("कार्य*"), of(SignKind::Prefix, &["कार्य"]));
    assert_eq!(beginnings("செவ்*"), ["செவ்"]);
    // The pattern decides, and keeps the accents.
    assert_ne!(beginning("größ"), beginning("gross"));
}

#[test]
fn a_word_of_hangul_is_a_beginning_and_a_phrase_has_its_particles() {
    let words = Words::parse("다음 회의는 언제 open 물");
    assert_eq!(words.plain, "다음 회의는 언제 open 물");
    assert_eq!(signs(&words.plain), of(SignKind::Prefix, &["다음", "회의는", "언제"]));
    assert!(!words.has_beginning());
    let also = |text: &str| Words::parse(text).signs[0].also.clone().unwrap_or_default();
    assert!(also("\"다음 회의\"").starts_with("'다음' <-> ('회의는' | '회의가' | "));
    assert!(also("-음악").contains("'음악이'") && !also("-음악").contains("'음악가'"));
    assert_eq!(also("\"open 회의\""), "");
    let many: String = ('가'..='갠').map(|c| format!("{c}{c} ")).collect();
    assert_eq!(Words::parse(&many).signs.len(), MOST);
}

#[test]
fn a_letter_of_a_script_without_spaces_is_a_beginning_too() {
    let words = Words::parse("the 猫, 犬、鳥 and 東京");
    assert_eq!(words.plain, "the 猫, 犬、鳥 and 東京");
    assert_eq!(signs(&words.plain), of(SignKind::Prefix, &["猫", "犬", "鳥"]));
    assert_eq!(words.searched(), "the 犬、鳥 and 東京");
    for text in ["猫", "-猫", "\"猫\"", "cat \"猫\""] {
        assert_eq!(Words::parse(text).signs[0].also.as_deref(), Some("'猫':*"), "{text}");
    }
}

#[test]
fn tokens_with_signs_are_exact() {
    for (token, term) in [
        ("17.2", "17.2"),
        ("17.2.", "17.2"),
        ("(v1.2.3-beta.1)", "v1.2.3-beta.1"),
        ("--flag", "--flag"),
        ("`--dry-run`", "--dry-run"),
        ("snake_case", "snake_case"),
        ("__init__", "__init__"),
        ("a::b", "a::b"),
        ("foo::bar::baz()", "foo::bar::baz"),
        ("x.y?", "x.y"),
        ("C++,", "C++"),
        ("C#", "C#"),
        (".NET", ".NET"),
        ("#123", "#123"),
        ("foo/bar.rs:", "foo/bar.rs"),
        ("/usr/local/bin/", "/usr/local/bin"),
        ("../x", "../x"),
        ("~/.bashrc", "~/.bashrc"),
        ("me@example.com", "me@example.com"),
        ("key=value", "key=value"),
        ("PROJ-17", "PROJ-17"),
        ("12:30", "12:30"),
        ("C:\\Users", "C:\\Users"),
    ] {
        assert_eq!(signs(token), of(SignKind::Term, &[term]), "{token}");
        assert_eq!(Words::parse(token).plain, token);
    }
    for token in [
        "pgvector",
        "camelCase",
        "night-watch",
        "don't",
        "(a)",
        "e,g",
        "+",
        "+++",
        "50%",
        "a;b",
        "1,000",
        "1/2",
        "type-2",
    ] {
        assert!(signs(token).is_empty(), "{token}: {:?}", signs(token));
    }
}

#[test]
fn parts_of_what_full_text_takes_for_one_are_looked_for() {
    let parts = |text| Words::parse(text).signs[0].parts.clone();
    assert_eq!(parts("artists/bands").as_deref(), Some("artists bands"));
    assert_eq!((parts("17.2"), parts("a_b")), (None, None));
    assert_eq!(parts("src/x/recall.rs").as_deref(), Some("src recall rs"));
}

#[test]
fn a_pasted_text_has_no_signs() {
    let long = format!("{} \"a phrase\" -no", "word ".repeat(200));
    assert_eq!(Words::parse(&long), Words { plain: long.clone(), ..Words::default() });
    let many: String = (0..17).map(|n| format!("\"phrase {n}\" ")).collect();
    assert!(Words::parse(&many).signs.is_empty());
}

proptest! {
    #[test]
    fn any_text_parses(text in "\\PC{0,60}", signs in r#"[-"*a-c_.:/ #+1“”?]{0,40}"#) {
        for text in [&text, &signs] {
            let words = Words::parse(text);
            prop_assert!(words.signs.iter().all(|sign| sign.text.contains(char::is_alphanumeric)));
            prop_assert!(words.signs.len() <= 5 * MOST);
        }
    }

    #[test]
    fn words_alone_stay_as_they_are(text in r"([a-zäß']{1,8}(-[a-z]{1,5})?[.,;!?]?( - | )){0,12}") {
        let words = Words::parse(&text);
        prop_assert_eq!(&words.plain, &text);
        prop_assert!(words.signs.is_empty());
    }

    #[test]
    fn what_is_embedded_has_no_signs(
        words in proptest::collection::vec("[a-z]{2,6}", 1..5), signs in proptest::collection::vec(0..4usize, 1..5)
    ) {
        let text: Vec<String> = words.iter().zip(signs.iter().chain(std::iter::repeat(&3))).map(|(word, sign)| match sign {
            0 => format!("\"{word} {word}\""),
            1 => format!("-{word}"),
            2 => format!("{word}*"),
            _ => word.clone(),
        }).collect();
        let plain = Words::parse(&text.join(" ")).plain;
        prop_assert!(!plain.contains(['"', '-', '*']), "{plain}");
    }
}
