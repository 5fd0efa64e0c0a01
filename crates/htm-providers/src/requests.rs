//! Embedding requests. Texts are split to the model's window, packed to the provider's limits, sent, and pooled.

use async_trait::async_trait;
use htm_core::provider::{Calls, Embedding, Further, ModelName, ProviderError, ProviderErrorKind};

use crate::pool::pool;
use crate::split::{Part, Window};

/// A part with at most this many tokens fits every model. If it is rejected, its length is not the cause.
const SHORT_TOKENS: usize = 64;

/// The limits of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) inputs: usize,
    /// The tokens of all inputs together. A longer input goes alone.
    pub(crate) tokens: usize,
}

/// A provider's embedding endpoint.
#[async_trait]
pub(crate) trait Endpoint: Sync {
    /// The model.
    fn model(&self) -> &ModelName;

    /// Embeds inputs in one request: a vector for each, in order, of the model's dimensions and not of length zero.
    /// Errors must not quote `texts`.
    async fn send(&self, inputs: Vec<String>, texts: &[String]) -> Result<Vec<Vec<f32>>, ProviderError>;
}

/// Embeds texts: one embedding for each, in order. Each part is sent with `prefix`. `calls` permits all requests but the
/// first.
pub(crate) async fn embed(
    endpoint: &dyn Endpoint,
    window: Window,
    limits: Limits,
    prefix: &str,
    texts: &[String],
    calls: &dyn Calls,
) -> Result<Vec<Embedding>, ProviderError> {
    let window = window.without(prefix);
    let parts = texts
        .iter()
        .enumerate()
        .flat_map(|(of, text)| window.split(text).into_iter().map(move |part| Input { of, part }));
    let mut vectors: Vec<Vec<(Vec<f32>, usize)>> = vec![Vec::new(); texts.len()];
    // A stack: the next request is the last.
    let mut waiting: Vec<Vec<Input<'_>>> = pack(parts, prefix.len(), limits);
    waiting.reverse();
    let mut is_first = true;
    while let Some(inputs) = waiting.pop() {
        if !is_first && !calls.another(Further::Rest).await {
            let kind = ProviderErrorKind::RateLimited { retry_after: None };
            return Err(ProviderError::new(
                endpoint.model(),
                kind,
                "held back between two requests of a call",
            ));
        }
        is_first = false;
        let sent = inputs.iter().map(|input| input.sent(prefix)).collect();
        // An error of this request quotes no other text.
        let quoted: Vec<String> = inputs.iter().map(|input| input.part.text.to_owned()).collect();
        match endpoint.send(sent, &quoted).await {
            Ok(answer) => {
                for (input, vector) in inputs.iter().zip(answer) {
                    vectors[input.of].push((vector, input.part.tokens));
                }
            }
            // With several texts the caller halves the batch instead.
            Err(error) if error.kind == ProviderErrorKind::BadInput && texts.len() == 1 => {
                let (first, second) = halve(&inputs, &window).ok_or(error)?;
                waiting.extend([second, first]);
            }
            Err(error) => return Err(error),
        }
    }
    let zero = || {
        let message = "the vectors of a text's parts cancel each other";
        ProviderError::new(endpoint.model(), ProviderErrorKind::BadResponse, message)
    };
    vectors.iter().map(|parts| pool(parts).ok_or_else(zero)).collect()
}

/// A part and the index of its text.
#[derive(Clone, Debug, PartialEq)]
struct Input<'a> {
    of: usize,
    part: Part<'a>,
}

impl Input<'_> {
    /// The input with its prefix. An empty text becomes a space, because OpenAI rejects a batch with an empty string.
    fn sent(&self, prefix: &str) -> String {
        match (prefix, self.part.text) {
            ("", "") => " ".to_owned(),
            (prefix, text) => format!("{prefix}{text}"),
        }
    }
}

/// Packs `inputs` into the fewest requests, in order. Each input has `more` tokens than its part, for the prefix.
fn pack<'a>(inputs: impl Iterator<Item = Input<'a>>, more: usize, limits: Limits) -> Vec<Vec<Input<'a>>> {
    let mut requests: Vec<Vec<Input<'a>>> = Vec::new();
    let mut tokens = 0;
    for input in inputs {
        let needed = input.part.tokens + more;
        tokens += needed;
        match requests.last_mut() {
            Some(request) if request.len() < limits.inputs && tokens <= limits.tokens => request.push(input),
            _ => {
                tokens = needed;
                requests.push(vec![input]);
            }
        }
    }
    requests
}

/// Splits a rejected request into two. None for a single short part.
fn halve<'a>(inputs: &[Input<'a>], window: &Window) -> Option<(Vec<Input<'a>>, Vec<Input<'a>>)> {
    match inputs {
        [Input { of, part }] => {
            let halves = (part.tokens > SHORT_TOKENS).then(|| window.divide(part, 2)).flatten()?;
            let (first, second) = halves.split_first()?;
            let alone = |part: &Part<'a>| vec![Input { of: *of, part: part.clone() }];
            Some((alone(first), second.iter().flat_map(alone).collect()))
        }
        inputs => {
            let (first, second) = inputs.split_at(inputs.len() / 2);
            Some((first.to_vec(), second.to_vec()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use htm_core::TokenEncoding;
    use htm_core::provider::Ungoverned;

    use super::*;

    /// Embeds a text as (its bytes, 1). Rejects inputs of more than `room` bytes.
    struct Bytes {
        model: ModelName,
        room: usize,
        sent: Mutex<Vec<Vec<String>>>,
    }

    impl Bytes {
        fn new(room: usize) -> Self {
            Self { model: ModelName::new("test", "bytes"), room, sent: Mutex::default() }
        }
    }

    #[async_trait]
    impl Endpoint for Bytes {
        fn model(&self) -> &ModelName {
            &self.model
        }

        async fn send(&self, inputs: Vec<String>, _: &[String]) -> Result<Vec<Vec<f32>>, ProviderError> {
            let refused = inputs.iter().any(|input| input.len() > self.room);
            let vectors = inputs.iter().map(|input| vec![input.len() as f32, 1.0]).collect();
            self.sent.lock().unwrap().push(inputs);
            match refused {
                true => Err(ProviderError::new(&self.model, ProviderErrorKind::BadInput, "too long")),
                false => Ok(vectors),
            }
        }
    }

    async fn parts(
        endpoint: &Bytes,
        limits: Limits,
        prefix: &str,
        texts: &[&str],
    ) -> Result<Vec<u32>, ProviderError> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let window = Window::exact(100, TokenEncoding::Estimate);
        let embeddings = embed(endpoint, window, limits, prefix, &texts, &Ungoverned).await?;
        Ok(embeddings.iter().map(|embedding| embedding.parts).collect())
    }

    const WIDE: Limits = Limits { inputs: 2048, tokens: 300_000 };

    #[tokio::test]
    async fn texts_keep_their_order_and_nothing_is_lost() {
        let endpoint = Bytes::new(usize::MAX);
        let long = "Some words to read. ".repeat(100);
        let counts = parts(&endpoint, WIDE, "", &["", &long, "short"]).await.unwrap();
        assert_eq!((counts[0], counts[2]), (1, 1));
        let sent = endpoint.sent.lock().unwrap();
        assert_eq!((sent.len(), sent[0].len()), (1, 2 + counts[1] as usize));
        assert_eq!((sent[0][0].as_str(), sent[0].last().unwrap().as_str()), (" ", "short"));
        assert_eq!(sent[0][1..=counts[1] as usize].concat(), long);
    }

    #[tokio::test]
    async fn requests_keep_to_their_limits() {
        for limits in [Limits { inputs: 3, ..WIDE }, Limits { tokens: 250, ..WIDE }] {
            let endpoint = Bytes::new(usize::MAX);
            let long = "Some words to read. ".repeat(100);
            let counts = parts(&endpoint, limits, "", &["short", &long]).await.unwrap();
            let sent = endpoint.sent.lock().unwrap();
            let keeps = |inputs: &Vec<String>| {
                let tokens: usize = inputs.iter().map(|input| TokenEncoding::Estimate.count(input)).sum();
                inputs.len() <= limits.inputs && tokens <= limits.tokens
            };
            assert!(sent.len() > 1 && sent.iter().all(keeps), "{sent:?}");
            assert_eq!(sent.concat().len(), 1 + counts[1] as usize);
        }
        // A part over the limit goes alone.
        let endpoint = Bytes::new(usize::MAX);
        parts(&endpoint, Limits { tokens: 1, ..WIDE }, "", &["one", "two"]).await.unwrap();
        assert_eq!(endpoint.sent.lock().unwrap().len(), 2);
    }

    /// Permits some further requests.
    struct Permits(Mutex<Vec<Further>>, usize);

    #[async_trait]
    impl Calls for Permits {
        async fn another(&self, request: Further) -> bool {
            let mut asked = self.0.lock().unwrap();
            asked.push(request);
            asked.len() <= self.1
        }
    }

    #[tokio::test]
    async fn each_further_request_needs_permission() {
        let texts = ["one", "two", "three"].map(str::to_owned);
        let window = Window::exact(100, TokenEncoding::Estimate);
        for permitted in 0..=2 {
            let (endpoint, permits) = (Bytes::new(usize::MAX), Permits(Mutex::default(), permitted));
            let limits = Limits { inputs: 1, ..WIDE };
            let embedded = embed(&endpoint, window, limits, "", &texts, &permits).await;
            assert_eq!(endpoint.sent.lock().unwrap().len(), 1 + permitted);
            assert_eq!(*permits.0.lock().unwrap(), vec![Further::Rest; 2.min(permitted + 1)]);
            match permitted {
                2 => assert_eq!(embedded.unwrap().len(), 3),
                _ => assert_eq!(embedded.unwrap_err().code(), "provider_rate_limited"),
            }
        }
    }

    #[tokio::test]
    async fn a_refused_part_is_halved_until_it_fits() {
        let endpoint = Bytes::new(300);
        let text = "Some words to read. ".repeat(19);
        let counts = parts(&endpoint, WIDE, "p: ", &[&text]).await.unwrap();
        assert_eq!(counts, [2]);
        let sent = endpoint.sent.lock().unwrap();
        assert_eq!(sent.len(), 3);
        let halves = sent[1..].concat();
        assert_eq!(halves.iter().map(|half| half.strip_prefix("p: ").unwrap()).collect::<String>(), text);
    }

    #[tokio::test]
    async fn what_is_refused_when_short_is_refused() {
        let endpoint = Bytes::new(0);
        let text = "Some words to read. ".repeat(100);
        let error = parts(&endpoint, WIDE, "", &[&text]).await.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::BadInput);
        let calls = endpoint.sent.lock().unwrap().len();
        assert!(calls < 12, "{calls}");
        // With several texts, the caller has to find the rejected one.
        let endpoint = Bytes::new(200);
        parts(&endpoint, WIDE, "", &["short", &text]).await.unwrap_err();
        assert_eq!(endpoint.sent.lock().unwrap().len(), 1);
    }
}
