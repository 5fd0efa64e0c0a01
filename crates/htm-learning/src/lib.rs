//! A ranking of a namespace's own, learnt from judged recalls.
//!
//! [`learn`] fits the weights of the features, and with enough recalls trees, to what was used. It tests what it learns
//! on later recalls than those that it learns from, and adopts it only if it is better beyond doubt and worse for no
//! author. The result is a [`Learnt`](htm_core::ranking::Learnt) ranking. It is pure: no clock, no files, no database.

mod authors;
mod bins;
mod boost;
mod bootstrap;
mod evaluate;
mod folds;
mod grow;
mod learn;
mod linear;
mod measure;
mod outcome;
mod recall;
mod sample;
mod softmax;
mod solve;

pub use bootstrap::Gain;
pub use learn::{Options, learn};
pub use outcome::{Figures, MovedWeight, Outcome, Reason};
pub use recall::{JudgedCandidate, JudgedRecall, Verdict};
