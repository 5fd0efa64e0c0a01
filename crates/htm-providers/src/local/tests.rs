//! The model against candle's BERT, its windows, and its speed. Without the weights they print why they skip.

use std::time::Instant;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;

use super::model::Model;
use super::*;

/// The directory of the weights, or a line that says what is missing.
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

#[test]
fn agrees_with_candle() {
    let Some(dir) = model_dir() else { return };
    let texts = owned(&[
        "",
        "The cat sat on the mat.",
        "naïve café 🦀 שלום",
        &"HNSW indexes vectors in layers. ".repeat(25),
    ]);
    let ours = Model::shared(&dir, 2).unwrap().embed_blocking(&texts).unwrap();
    for (text, ours) in texts.iter().zip(&ours) {
        let theirs = reference(&dir, text);
        let far = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 2e-5, "{far} apart for a text of {} bytes", text.len());
    }
}

#[test]
fn meaning_is_near() {
    let Some(dir) = model_dir() else { return };
    let texts = owned(&["A man is eating food.", "Someone has a meal.", "The stock market fell sharply."]);
    let vectors = Model::shared(&dir, 0).unwrap().embed_blocking(&texts).unwrap();
    assert!(dot(&vectors[0], &vectors[1]) > 0.5 && dot(&vectors[0], &vectors[2]) < 0.2);
}

#[test]
fn the_end_of_a_long_text_counts() {
    let Some(dir) = model_dir() else { return };
    let filler = "The committee met and spoke about the budget of the year. ".repeat(100);
    let texts = vec![filler.clone(), format!("{filler}{}", "Penguins swim in the cold sea. ".repeat(100))];
    let vectors = Model::shared(&dir, 0).unwrap().embed_blocking(&texts).unwrap();
    let query = &Model::shared(&dir, 0).unwrap().embed_blocking(&owned(&["penguins"])).unwrap()[0];
    assert!(dot(query, &vectors[1]) > dot(query, &vectors[0]) + 0.2);
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
                model.embed_blocking(batch).unwrap();
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
    for ((text, wanted), tags) in SENTENCES.iter().zip(tagger.extract(&texts, &[]).await.unwrap()) {
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
async fn a_tag_in_use_is_chosen_without_a_description() {
    let Some(model_dir) = model_dir() else { return };
    let tagger = tagger(LocalSettings { model_dir, ..LocalSettings::default() }).unwrap();
    let in_use = ["hobby:bee-keeping".parse().unwrap()];
    let tags =
        tagger.extract(&owned(&["The bees in my second hive have made honey."]), &in_use).await.unwrap();
    assert_eq!(tags[0][0].path, in_use[0], "{tags:?}");
}

/// Prints the tags of plain sentences: `cargo test -p htm-providers look_at -- --ignored --nocapture`
#[tokio::test]
#[ignore = "for the eye"]
async fn look_at_tags() {
    let Some(model_dir) = model_dir() else { return };
    let tagger = tagger(LocalSettings { model_dir, tag_threshold: 0.2, ..LocalSettings::default() }).unwrap();
    let texts: Vec<String> = SENTENCES.iter().map(|(text, _)| (*text).to_owned()).collect();
    for ((text, wanted), tags) in SENTENCES.iter().zip(tagger.extract(&texts, &[]).await.unwrap()) {
        println!("{text}\n    wanted {wanted:?}");
        for tag in tags {
            println!("    {:.2} {}", tag.confidence.unwrap(), tag.path);
        }
    }
}

/// Sentences and one tag that a person would give; none where there is no topic.
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
    ("Rotate the API key, it was committed to the repository by mistake.", "security:secrets"),
    ("Rebase the feature branch onto main before merging.", "git"),
    ("The race condition disappears when the mutex is held during the update.", "concurrency"),
    ("Production went down for 40 minutes on Friday, post-mortem is due Tuesday.", "bug:incident"),
    ("Caroline: I went to a LGBTQ support group yesterday and it was so powerful.", "identity:lgbtq"),
    ("Melanie: I painted that lake sunrise last year! It's special to me.", "art:painting"),
    ("My daughter's birthday is on 13 May, she loves dinosaurs.", "celebration:birthday"),
    ("I am allergic to peanuts and mostly eat vegetarian.", "food:diet"),
    ("We are going camping in the mountains next weekend with the kids.", "sports:outdoor"),
    ("I've been researching adoption agencies, it's been a dream to have a family.", "family:adoption"),
    ("My dog Rex needs his vaccination in March.", "pets:dogs"),
    ("I signed up for a pottery class yesterday, it's like therapy for me.", "art:crafts"),
    ("She plays the violin and sings in a choir.", "music"),
    ("We fly to Tokyo in October and stay for two weeks.", "travel"),
    ("I couldn't sleep last night, I feel stressed about the exam.", "emotion:stress"),
    ("My grandmother passed away last week.", "emotion:grief"),
    ("I baked sourdough bread for the first time.", "food:baking"),
    ("Finished reading the novel you recommended, loved the ending.", "entertainment:books"),
    ("I run five kilometres every morning before work.", "health:fitness"),
    ("The contract with Acme must be signed before the end of June.", "legal:contract"),
    ("Q3 revenue grew by 12 percent, margins shrank.", "finance:revenue"),
    ("Two candidates are coming for interviews on Monday.", "hr:hiring"),
    ("The customer wants a refund because the parcel arrived damaged.", "customer:complaint"),
    ("Move the weekly meeting from Tuesday to Thursday at 10.", "meeting:schedule"),
    ("The supplier raised prices, so look for another vendor.", "operations:procurement"),
    ("GDPR request: delete all personal data of the user within 30 days.", "legal:privacy"),
    ("T cells of patients with melanoma express PD-1 after treatment.", "biology:immunology"),
    ("The randomised trial showed no benefit of vitamin D over placebo.", "medicine:clinical-trial"),
    ("Gene knockout mice had higher blood glucose and became obese.", "medicine:diabetes"),
    ("Hello! How are you?", ""),
    ("Thanks, that's great.", ""),
    ("Yes, exactly.", ""),
    ("ok lol see you later", ""),
];
