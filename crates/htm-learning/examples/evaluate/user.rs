//! Simulated users: they see the default's first ten, read less of the lower ranks, and use what is relevant.

use chrono::{DateTime, Duration};
use fastrand::Rng;
use htm_learning::{JudgedCandidate, JudgedRecall, Verdict};

use crate::data::Question;

/// A user who judges a recall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum User {
    /// All relevant candidates are named, without a look at an answer.
    Complete,
    /// A rank is examined with the probability (1 / rank)^η. A relevant candidate that is examined is used, and another
    /// one by mistake in a share of cases.
    Reader { eta: f64, mistakes: f64 },
    /// The candidates of a reader, but the last irrelevant one shown is named as used.
    Junk,
    /// A candidate from far below is named as used.
    DeepJunk,
    /// The candidate with the lowest similarity that was shown is named as used.
    Against,
    /// All is useless.
    Useless,
}

/// The recall of a question, as a user judges it.
pub(crate) fn judged(
    question: &Question,
    user: User,
    author: &str,
    place: usize,
    day: i64,
    random: &mut Rng,
) -> JudgedRecall {
    let shown = |at: usize| (user != User::Complete && at < 10).then_some(at as u32 + 1);
    let irrelevant = |at: &usize| !question.candidates[*at].0;
    let similarity = |at: &usize| question.candidates[*at].1[8];
    let count = question.candidates.len();
    let junk = match user {
        User::Junk => (0..count.min(10)).rfind(irrelevant),
        User::DeepJunk => (40.min(count)..count.min(100)).rfind(irrelevant),
        User::Against => {
            (0..count.min(10)).filter(irrelevant).min_by(|a, b| similarity(a).total_cmp(&similarity(b)))
        }
        _ => None,
    };
    let mut verdict = |at: usize| {
        let is_relevant = question.candidates[at].0;
        match user {
            User::Complete if is_relevant => Verdict::Used(1.0),
            User::Complete => Verdict::Unknown,
            User::Reader { eta, mistakes } => {
                let is_examined = at < 10 && random.f64() < (at as f64 + 1.0).powf(-eta);
                let is_used = is_relevant || random.f64() < mistakes;
                if is_examined && is_used { Verdict::Used(1.0) } else { Verdict::Unknown }
            }
            User::Useless if at < 10 => Verdict::Useless,
            _ if junk == Some(at) => Verdict::Used(1.0),
            _ => Verdict::Unknown,
        }
    };
    let candidates = question.candidates.iter().enumerate();
    let candidates: Vec<JudgedCandidate> = candidates
        .map(|(at, (_, features))| JudgedCandidate {
            features: *features,
            shown: shown(at),
            verdict: verdict(at),
        })
        .collect();
    let found = question.candidates.iter().filter(|(is_relevant, _)| *is_relevant).count();
    JudgedRecall {
        id: place as i64,
        author: author.into(),
        block: None,
        at: DateTime::UNIX_EPOCH + Duration::days(day) + Duration::minutes(10 * place as i64),
        candidates,
        missed: if user == User::Complete { question.relevant - found } else { 0 },
    }
}
