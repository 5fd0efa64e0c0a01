//! The model against candle's BERT, its windows, and its speed. Without the weights, the tests print the reason for
//! being skipped.

use std::time::Instant;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use tokio_util::sync::CancellationToken;

use htm_core::provider::TagSuggestion;
use htm_core::tag::{KnownTag, KnownTags, Leftover, SplitTag};

use super::model::Model;
use super::*;

/// The directory of the weights. None, with a message, if it has none.
fn model_dir() -> Option<PathBuf> {
    let dir = std::env::var_os("HTM_LOCAL__MODEL_DIR").map_or_else(default_model_dir, PathBuf::from);
    if !dir.join("model.safetensors").exists() {
        eprintln!("skipped: no model at {} (`./justw setup` fetches it)", dir.display());
        return None;
    }
    Some(dir)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// candle's answer for one text that fits the window.
fn reference(dir: &std::path::Path, text: &str) -> Vec<f32> {
    let config = serde_json::from_slice(&std::fs::read(dir.join("config.json")).unwrap()).unwrap();
    let weights = std::fs::read(dir.join("model.safetensors")).unwrap();
    let variables = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu).unwrap();
    let bert = BertModel::load(variables, &config).unwrap();
    let mut tokenizer = tokenizers::Tokenizer::from_file(dir.join("tokenizer.json")).unwrap();
    tokenizer.with_truncation(None).unwrap().with_padding(None);
    let encoding = tokenizer.encode(text, true).unwrap();
    let ids = Tensor::new(encoding.get_ids(), &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    let hidden = bert.forward(&ids, &ids.zeros_like().unwrap(), None).unwrap();
    let mean = hidden.mean(1).unwrap().squeeze(0).unwrap();
    let length = mean.sqr().unwrap().sum_all().unwrap().sqrt().unwrap();
    mean.broadcast_div(&length).unwrap().to_vec1().unwrap()
}

fn embed(model: &Model, texts: &[String]) -> Vec<Embedding> {
    model.embed_blocking(texts, &Prefix::default(), &CancellationToken::new()).unwrap()
}

#[test]
fn agrees_with_candle() {
    let Some(dir) = model_dir() else { return };
    let texts = owned(&[
        "",
        "The cat sat on the mat.",
        "naïve café 🦀 שלום",
        &"HNSW indexes vectors in layers. ".repeat(25),
    ]);
    let ours = embed(&Model::shared(&dir, 2).unwrap(), &texts);
    for (text, ours) in texts.iter().zip(&ours) {
        let theirs = reference(&dir, text);
        let far = ours.vector.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 2e-5, "{far} apart for a text of {} bytes", text.len());
    }
}

#[tokio::test]
async fn a_query_of_unknown_words_has_no_vector() {
    let Some(model_dir) = model_dir() else { return };
    let embedder = embedder(LocalSettings { model_dir, ..LocalSettings::default() }).unwrap();
    for (text, is_known) in [
        ("แมว", false),
        ("รหัสผ่านของเซิร์ฟเวอร์?", false),
        ("🚕🚕", false),
        ("PostgreSQL แมว", true),
        ("thanks 🚕", true),
        ("Müller", true),
        ("?", true),
        ("", true),
    ] {
        let vectors = embedder.embed(&owned(&[text]), Purpose::Query).await;
        assert_eq!(
            vectors.map(|it| it.len()).map_err(|it| it.kind),
            if is_known { Ok(1) } else { Err(ProviderErrorKind::BadInput) },
            "{text}"
        );
        assert_eq!(embedder.embed(&owned(&[text]), Purpose::Document).await.unwrap().len(), 1, "{text}");
    }
}

#[test]
fn meaning_is_near() {
    let Some(dir) = model_dir() else { return };
    let texts = owned(&["A man is eating food.", "Someone has a meal.", "The stock market fell sharply."]);
    let vectors = embed(&Model::shared(&dir, 0).unwrap(), &texts);
    let near = |a: usize, b: usize| dot(&vectors[a].vector, &vectors[b].vector);
    assert!(near(0, 1) > 0.5 && near(0, 2) < 0.2);
}

#[test]
fn the_end_of_a_long_text_counts() {
    let Some(dir) = model_dir() else { return };
    let filler = "The committee met and spoke about the budget of the year. ".repeat(100);
    let texts = vec![filler.clone(), format!("{filler}{}", "Penguins swim in the cold sea. ".repeat(100))];
    let model = Model::shared(&dir, 0).unwrap();
    let vectors = embed(&model, &texts);
    let query = &embed(&model, &owned(&["penguins"]))[0];
    let near = |text: usize| dot(&query.vector, &vectors[text].vector);
    assert!(near(1) > near(0) + 0.2);
    // 256 word pieces a window, of which two are marks: 100 sentences of 12, then 100 more of 7.
    assert_eq!((query.parts, vectors[0].parts, vectors[1].parts), (1, 5, 8));
}

#[test]
fn a_query_passes_a_long_text_and_a_dropped_call_ends() {
    let Some(dir) = model_dir() else { return };
    let model = Model::shared(&dir, 1).unwrap();
    let long = vec!["The committee met and spoke about the budget of the year. ".repeat(20_000)];
    let dropped = CancellationToken::new();
    std::thread::scope(|scope| {
        let (begins, begun) = std::sync::mpsc::channel();
        let (model, dropped, long) = (&model, &dropped, &long);
        let embedding = scope.spawn(move || {
            begins.send(()).unwrap();
            model.embed_blocking(long, &Prefix::default(), dropped)
        });
        begun.recv().unwrap();
        embed(model, &owned(&["penguins"]));
        assert!(!embedding.is_finished());
        dropped.cancel();
        let error = embedding.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("nobody waits"), "{error}");
    });
}

#[test]
fn long_calls_that_let_queries_go_first_lose_nothing() {
    let Some(dir) = model_dir() else { return };
    let model = &Model::shared(&dir, 2).unwrap();
    let texts = |call: usize| -> Vec<String> {
        (0..20).map(|text| format!("Text {text} of call {call} is about the budget. ").repeat(20)).collect()
    };
    let alone: Vec<Vec<Embedding>> = (0..3).map(|call| embed(model, &texts(call))).collect();
    let query = owned(&["penguins"]);
    let answer = embed(model, &query).remove(0).vector;
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..3).map(|call| scope.spawn(move || embed(model, &texts(call)))).collect();
        while calls.iter().any(|call| !call.is_finished()) {
            assert_eq!(embed(model, &query)[0].vector, answer);
        }
        for (call, alone) in calls.into_iter().zip(&alone) {
            let vectors = call.join().unwrap();
            assert!(vectors.iter().map(|it| &it.vector).eq(alone.iter().map(|it| &it.vector)));
        }
    });
}

#[test]
fn a_missing_file_is_named_with_what_to_do() {
    let settings = LocalSettings { model_dir: "/nowhere/model".into(), ..LocalSettings::default() };
    let error = embedder(settings).err().unwrap();
    assert_eq!(error.to_string(), "/nowhere/model/config.json is missing");
    assert!(error.hint().contains("./justw setup"));
}

/// `HTM_BENCH_TEXTS=corpus.jsonl cargo test --release -p htm-providers bench -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn bench() {
    let Some(dir) = model_dir() else { return };
    let corpus = std::env::var("HTM_BENCH_TEXTS").expect("a JSON-lines file with `text`");
    let texts: Vec<String> = std::fs::read_to_string(corpus)
        .unwrap()
        .lines()
        .take(1000)
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned()
        })
        .collect();
    let model = Model::shared(&dir, 0).unwrap();
    for round in 0..4 {
        for size in [64, texts.len()] {
            let start = Instant::now();
            for batch in texts.chunks(size) {
                embed(&model, batch);
            }
            let took = start.elapsed().as_secs_f64();
            println!("round {round}, batch {size}: {:.0} texts/s", texts.len() as f64 / took);
        }
    }
}

#[tokio::test]
async fn tags_of_plain_sentences() {
    let Some(model_dir) = model_dir() else { return };
    let tagger = tagger(LocalSettings { model_dir, ..LocalSettings::default() }).unwrap();
    let texts: Vec<String> = SENTENCES.iter().map(|(text, _)| (*text).to_owned()).collect();
    let (mut found, mut given) = (0, 0);
    for ((text, wanted), tags) in
        SENTENCES.iter().zip(tagger.extract(&texts, &KnownTags::default()).await.unwrap())
    {
        if wanted.is_empty() {
            assert!(tags.is_empty(), "{text}: {tags:?}");
        } else {
            found += usize::from(tags.iter().any(|tag| tag.path.as_str().starts_with(wanted)));
            given += tags.len();
        }
    }
    let topics = SENTENCES.iter().filter(|(_, wanted)| !wanted.is_empty()).count();
    assert!(found * 10 >= topics * 9, "{found} of {topics} sentences have the tag that a person gives");
    assert!(given <= topics * 2, "{given} tags for {topics} sentences");
}

#[tokio::test]
async fn a_tagger_that_starts_again_reads_its_terms() {
    let Some(model_dir) = model_dir() else { return };
    let dir = tempfile::tempdir().unwrap();
    let texts = owned(&["The query got slow because the planner ignored the index on created_at."]);
    let tags = async |cache_dir: PathBuf| {
        let templates = vec!["software".to_owned()];
        let (model_dir, cache_dir) = (model_dir.clone(), cache_dir.clone());
        let settings = LocalSettings { model_dir, templates, cache_dir, ..LocalSettings::default() };
        format!("{:?}", tagger(settings).unwrap().extract(&texts, &KnownTags::default()).await.unwrap())
    };
    let first = tags(dir.path().join("cache")).await;
    let kept: Vec<_> = std::fs::read_dir(dir.path().join("cache")).unwrap().map(|it| it.unwrap()).collect();
    assert_eq!(kept.len(), 1);
    let written = kept[0].metadata().unwrap().modified().unwrap();
    assert_eq!(tags(dir.path().join("cache")).await, first);
    assert_eq!(kept[0].metadata().unwrap().modified().unwrap(), written, "it was read");
    // A place that cannot be written costs time alone.
    std::fs::write(dir.path().join("file"), "").unwrap();
    assert_eq!(tags(dir.path().join("file")).await, first);
}

#[tokio::test]
async fn a_tag_in_use_is_chosen_without_a_description() {
    let Some(model_dir) = model_dir() else { return };
    let tagger = tagger(LocalSettings { model_dir, ..LocalSettings::default() }).unwrap();
    let texts = owned(&["The bees in my second hive have made honey."]);
    let tags = tagger.extract(&texts, &known(&[("hobby:bee-keeping", "")])).await.unwrap();
    assert_eq!(tags[0][0].path.as_str(), "hobby:bee-keeping", "{tags:?}");
}

#[tokio::test]
async fn a_tag_is_chosen_by_what_somebody_said_it_is_about() {
    let Some(model_dir) = model_dir() else { return };
    let tagger = tagger(LocalSettings { model_dir, ..LocalSettings::default() }).unwrap();
    let texts =
        owned(&["The bees in my second hive have made honey.", "The query planner ignored the index."]);
    let said =
        known(&[("club:thursday", "Bees, their hives and honey"), ("database:tuning", "Pianos and guitars")]);
    let tags = tagger.extract(&texts, &said).await.unwrap();
    assert_eq!(tags[0][0].path.as_str(), "club:thursday", "{tags:?}");
    // The namespace's description replaces the template's.
    assert!(tags[1].iter().all(|tag| tag.path.as_str() != "database:tuning"), "{tags:?}");
}

#[tokio::test]
async fn terms_follow_what_became_of_their_names() {
    let Some(model_dir) = model_dir() else { return };
    let texts = owned(&["The query got slow because the planner ignored the index on created_at."]);
    let tagger = tagger(LocalSettings { model_dir, ..LocalSettings::default() }).unwrap();
    let paths = async |known: &KnownTags| -> Vec<String> {
        let tags = tagger.extract(&texts, known).await.unwrap().remove(0);
        tags.into_iter().map(|tag| tag.path.into()).collect()
    };
    let is_below = |paths: &[String], top: &str| paths.iter().any(|path| path.starts_with(top));
    let mut known = KnownTags::default();
    assert!(is_below(&paths(&known).await, "database:tuning"));
    known.former.synonyms.insert("database".into(), "storage".into());
    assert!(is_below(&paths(&known).await, "storage:tuning"), "renamed");
    let mut split = |into: &str, leftover| {
        let into = into.split(' ').map(|path| path.parse().unwrap()).collect();
        known.former.split.insert("storage:tuning".into(), SplitTag { into, leftover });
        known.clone()
    };
    let of = split("storage:plan storage:lock", Leftover::Keep);
    assert!(is_below(&paths(&of).await, "storage:tuning"), "it fits none of those in its place");
    let of = split("storage:plan storage:lock", Leftover::First);
    assert!(is_below(&paths(&of).await, "storage:plan"), "the first is the rest");
    let mut of = split("storage:lock storage:plan", Leftover::First);
    let about = "A query planner that ignores an index".to_owned();
    of.tags.push(KnownTag { path: "storage:plan".parse().unwrap(), description: Some(about) });
    let named = paths(&of).await;
    assert!(is_below(&named, "storage:plan"), "{named:?}");
    assert!(!is_below(&named, "storage:tuning") && !is_below(&named, "storage:lock"), "{named:?}");
    known.former.removed.insert("storage".into());
    assert!(!is_below(&paths(&known).await, "storage"), "removed");
}

#[tokio::test]
async fn terms_are_written_by_the_rules_that_are_set() {
    let Some(model_dir) = model_dir() else { return };
    let rules = TagRules {
        max_depth: 1,
        singular: [("database".to_owned(), "db".to_owned())].into(),
        ..TagRules::default()
    };
    let tagger = tagger(LocalSettings { model_dir, rules, ..LocalSettings::default() }).unwrap();
    let texts = owned(&["The query got slow because the planner ignored the index on created_at."]);
    let tags = tagger.extract(&texts, &KnownTags::default()).await.unwrap();
    assert_eq!(tags[0][0].path.as_str(), "db", "{tags:?}");
    assert!(tags[0].iter().all(|tag| tag.path.depth() == 1));
}

/// Tags of a namespace, with their descriptions. An empty one means none.
fn known(tags: &[(&str, &str)]) -> KnownTags {
    let tag = |(path, about): &(&str, &str)| KnownTag {
        path: path.parse().unwrap(),
        description: Some((*about).to_owned()).filter(|about| !about.is_empty()),
    };
    KnownTags { tags: tags.iter().map(tag).collect(), ..KnownTags::default() }
}

#[tokio::test]
async fn what_no_term_is_near_to_is_named_by_its_key_phrase_and_so_again() {
    let Some(model_dir) = model_dir() else { return };
    let tagger = tagger(LocalSettings { model_dir, ..LocalSettings::default() }).unwrap();
    let texts = owned(&[
        "The pocket watch needs a mainspring and a new crystal.",
        "Cleaned the escapement of the 1920s pocket watches and replaced a mainspring.",
        "Can you repeat that please?",
    ]);
    let tags = tagger.extract(&texts, &KnownTags::default()).await.unwrap();
    assert_eq!(tags[0][0].path.as_str(), "pocket-watch", "{tags:?}");
    assert_eq!(tags[0][0].path, tags[1][0].path);
    assert!(tags[0][0].confidence.is_some_and(|similarity| similarity > 0.5) && tags[2].is_empty());
    // Once in use, it is a tag like any other, also for texts with other words beside one of it.
    let in_use = known(&[(tags[0][0].path.as_str(), "")]);
    let texts = owned(&["The old watch in my waistcoat ticks again."]);
    assert_eq!(tagger.extract(&texts, &in_use).await.unwrap()[0][0].path, tags[0][0].path);
}

#[tokio::test]
async fn a_tag_in_use_does_not_spread_in_a_language_that_the_model_does_not_know() {
    let Some(model_dir) = model_dir() else { return };
    let tagger = tagger(LocalSettings { model_dir, ..LocalSettings::default() }).unwrap();
    let texts = owned(&[
        "Danke dir!",
        "Guten Morgen",
        "Gern geschehen!",
        "Der Zählerstand ist 48213.",
        "Ich mag keinen Kaffee am Abend.",
        "How about a lentil curry?",
        "Ich muss noch Zahnpasta kaufen.",
    ]);
    let in_use = [("einkaufsliste-machen", ""), ("noch-zahnpasta", ""), ("food:raku-tea", "")];
    let tags = tagger.extract(&texts, &known(&in_use)).await.unwrap();
    let spread = |tags: &[TagSuggestion]| -> Vec<String> {
        let paths = tags.iter().map(|tag| tag.path.to_string());
        paths.filter(|path| in_use.iter().any(|(tag, _)| path == tag)).collect()
    };
    assert!(tags[..6].iter().all(|tags| spread(tags).is_empty()), "{tags:?}");
    assert_eq!(spread(&tags[6]), ["noch-zahnpasta"], "{tags:?}");
    assert!(tags[..3].iter().all(Vec::is_empty), "{tags:?}");
}

/// Prints the tags of plain sentences: `cargo test -p htm-providers look_at -- --ignored --nocapture`
#[tokio::test]
#[ignore = "for the eye"]
async fn look_at_tags() {
    let Some(model_dir) = model_dir() else { return };
    let tagger = tagger(LocalSettings { model_dir, tag_threshold: 0.2, ..LocalSettings::default() }).unwrap();
    let texts: Vec<String> = SENTENCES.iter().map(|(text, _)| (*text).to_owned()).collect();
    for ((text, wanted), tags) in
        SENTENCES.iter().zip(tagger.extract(&texts, &KnownTags::default()).await.unwrap())
    {
        println!("{text}\n    wanted {wanted:?}");
        for tag in tags {
            println!("    {:.2} {}", tag.confidence.unwrap(), tag.path);
        }
    }
}

/// Sentences, each with one tag that a person would give. It is empty if there is no topic.
const SENTENCES: [(&str, &str); 44] = [
    ("We decided to use PostgreSQL with pgvector for the memory store.", "database"),
    ("The query got slow because the planner ignored the index on created_at.", "database:tuning"),
    ("Rust's borrow checker rejected the closure because it outlives the reference.", "language:rust"),
    ("The CI pipeline fails on GitHub Actions since the runner image was upgraded.", "deployment:ci"),
    ("User prefers dark mode and tabs over spaces.", "preference"),
    ("The login endpoint returns 401 when the refresh token has expired.", "security:authentication"),
    ("Deploy to the Kubernetes cluster failed: image pull back-off.", "cloud:kubernetes"),
    ("React component re-renders on each keystroke, memoise the list.", "frontend:react"),
    ("The worker leaks 200 MB an hour; heap profile points at the cache.", "performance:memory"),
    ("Switch the agent's prompt to Claude and reduce the context window.", "machine-learning:llm"),
    ("The unit test for the parser is flaky, it fails one run in ten.", "testing"),
    ("Rotate the API key, it was committed to the repository by mistake.", "security:secret"),
    ("Rebase the feature branch onto main before merging.", "git"),
    ("The race condition disappears when the mutex is held during the update.", "concurrency"),
    ("Production went down for 40 minutes on Friday, post-mortem is due Tuesday.", "bug:incident"),
    ("Caroline: I went to a LGBTQ support group yesterday and it was so powerful.", "identity:lgbtq"),
    ("Melanie: I painted that lake sunrise last year! It's special to me.", "art:painting"),
    ("My daughter's birthday is on 13 May, she loves dinosaurs.", "celebration:birthday"),
    ("I am allergic to peanuts and mostly eat vegetarian.", "food:diet"),
    ("We are going camping in the mountains next weekend with the kids.", "sport:outdoor"),
    ("I've been researching adoption agencies, it's been a dream to have a family.", "family:adoption"),
    ("My dog Rex needs his vaccination in March.", "pet:dog"),
    ("I signed up for a pottery class yesterday, it's like therapy for me.", "art:craft"),
    ("She plays the violin and sings in a choir.", "music"),
    ("We fly to Tokyo in October and stay for two weeks.", "travel"),
    ("I couldn't sleep last night, I feel stressed about the exam.", "emotion:stress"),
    ("My grandmother passed away last week.", "emotion:grief"),
    ("I baked sourdough bread for the first time.", "food:baking"),
    ("Finished reading the novel you recommended, loved the ending.", "entertainment:book"),
    ("I run five kilometres every morning before work.", "health:fitness"),
    ("The contract with Acme must be signed before the end of June.", "legal:contract"),
    ("Q3 revenue grew by 12 percent, margins shrank.", "finance:revenue"),
    ("Two candidates are coming for interviews on Monday.", "hr:hiring"),
    ("The customer wants a refund because the parcel arrived damaged.", "customer:complaint"),
    ("Move the weekly meeting from Tuesday to Thursday at 10.", "meeting:schedule"),
    ("The supplier raised prices, so look for another vendor.", "operation:procurement"),
    ("GDPR request: delete all personal data of the user within 30 days.", "legal:privacy"),
    ("T cells of patients with melanoma express PD-1 after treatment.", "biology:immunology"),
    ("The randomised trial showed no benefit of vitamin D over placebo.", "medicine:clinical-trial"),
    ("Gene knockout mice had higher blood glucose and became obese.", "medicine:diabetes"),
    ("Hello! How are you?", ""),
    ("Thanks, that's great.", ""),
    ("Yes, exactly.", ""),
    ("ok lol see you later", ""),
];

#[test]
fn the_generous_count_is_never_short_of_word_pieces() {
    let Some(dir) = model_dir() else { return };
    let mut tokenizer = tokenizers::Tokenizer::from_file(dir.join("tokenizer.json")).unwrap();
    tokenizer.with_truncation(None).unwrap().with_padding(None);
    let sources = [
        include_str!("kernels.rs"),
        include_str!("../../../../migration/src/sql/nodes.sql"),
        include_str!("../../../../demo/memories.jsonl"),
    ];
    for text in sources.into_iter().chain(MANY_SCRIPTS).chain(sources[2].lines()) {
        let pieces = tokenizer.encode(text, false).unwrap().len();
        let count = crate::split::generous(text);
        assert!(count >= pieces, "{count} for {pieces}: {text}");
    }
}

/// Texts with fewer tokens by o200k than by BERT: scripts and marks that BERT takes one by one, and long words.
const MANY_SCRIPTS: [&str; 22] = [
    "Die Donaudampfschifffahrtsgesellschaft beschloss nach längerer Überlegung Straßenverkehrsordnungsänderungen; der Vorstandsvorsitzende hält die Wärmedämmung der Büroräume für überfällig.",
    "L'été dernier, nous avons passé quelques semaines à la campagne, où les enfants découvraient chaque jour de nouvelles fleurs près de l'étang ; c'était merveilleux.",
    "Epäjärjestelmällistyttämättömyydellänsäkäänköhän hän yritti selittää, miksi aliupseerioppilas myöhästyi.",
    "Hôm qua chúng tôi đã quyết định chuyển toàn bộ cơ sở dữ liệu sang máy chủ mới vào cuối tuần này.",
    "我们昨天决定把整个数据库迁移到新的服务器上，因为旧的磁盘空间已经不够用了，而且备份时间太长。",
    "昨日の会議で、データベースを新しいサーバーに移行することを決定しました。古いディスクの容量が足りなくなったためです。",
    "어제 회의에서 우리는 오래된 디스크의 용량이 부족하기 때문에 데이터베이스를 새로운 서버로 옮기기로 결정했습니다.",
    "Вчера на совещании мы решили перенести всю базу данных на новый сервер, потому что на старом диске заканчивается место.",
    "قررنا أمس في الاجتماع نقل قاعدة البيانات بأكملها إلى الخادم الجديد لأن مساحة القرص القديم لم تعد كافية.",
    "אתמול בישיבה החלטנו להעביר את כל בסיס הנתונים לשרת החדש כי נגמר המקום בדיסק הישן.",
    "कल की बैठक में हमने पूरे डेटाबेस को नए सर्वर पर ले जाने का निर्णय लिया क्योंकि पुरानी डिस्क में जगह कम हो गई है।",
    "เมื่อวานนี้ในที่ประชุมเราตัดสินใจย้ายฐานข้อมูลทั้งหมดไปยังเซิร์ฟเวอร์ใหม่เพราะพื้นที่ดิสก์เก่าไม่พอ",
    "Χθες στη συνάντηση αποφασίσαμε να μεταφέρουμε ολόκληρη τη βάση δεδομένων στον νέο διακομιστή.",
    "🦀👩‍👩‍👧 ok 🎉🎉🎉 🇩🇪🇫🇷 👍🏽❤️‍🔥 🥳 😂😂😂 🚀✨",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 550e8400-e29b-41d4-a716-446655440000",
    "3.14159265358979 2.71828182845904 1234567890 9876543210 0.000123 -17.25e-9 192.168.100.254 2026-11-21T07:20:52Z",
    "2026-11-21T07:20:52.123456Z ERROR worker::claim[4711]: attempt=3/25 err=\"Connection refused (os error 111)\"",
    "https://example.com/a/b/c?utm_source=newsletter&id=8f14e45fceea167a5a36dedd4bea2543#section-2.1",
    "===...=== ---- **** !!! ??? ${{ foo.bar }} && || <<>> ;;; ((())) [[]] {}{}{} ~~~ ### @@@ %%% ^^^",
    ".a{margin:0;padding:0 1px;}.b>.c:not(:last-child)::after{content:\"\\201C\";}#d{background:rgba(0,0,0,.5)}",
    "{\"a\":[1,2,3],\"b\":{\"c\":null,\"d\":true},\"e\":\"\\u00e9\",\"f\":[{\"g\":0.1},{\"h\":-2}]}",
    "∀x∈ℝ: x² ≥ 0 ∧ ∃y ∫₀^∞ e^{-x²}dx = √π⁄2 ≈ 0.886 → ∑ᵢ αᵢβᵢ ≠ ∅",
];
