//! A ranking of a namespace's own, learnt from judged recalls.
//!
//! [`learn`] fits the weights of the features to what was used, and says whether the result should replace the ranking
//! that it started from. It is pure: no clock, no files, no database. The same recalls give the same outcome.
//!
//! 1. Each recall with a used candidate becomes a sample (`sample.rs`). Uses at low ranks count more, because few people
//!    look there. No author has more than half of the total weight (`authors.rs`).
//! 2. The weights are fitted (`linear.rs`), and small trees to what they leave, if there are enough samples (`boost.rs`).
//! 3. Earlier blocks are learnt from and later ones are measured (`evaluate.rs`), so no recall tests what was learnt from
//!    it. A block is an author's recalls of an hour. Trees are kept only if they are better than weights alone.
//! 4. The ranking is adopted if the bootstrap's lower bound of its gain is above 0, if recall does not suffer, if no author
//!    loses by it, and if the gain does not depend on one author. Its final form is fitted to all samples.
//!
//! Measured quality: docs/learning.md.
//!
//! ```
//! use htm_core::ranking::Learnt;
//! use htm_learning::{Options, Reason, learn};
//!
//! let outcome = learn(&[], &Learnt::default_ranking(), &Options::default());
//! assert!(!outcome.adopted);
//! assert_eq!(outcome.reason, Reason::TooFew { judged: 0, needed: 20 });
//! ```

mod authors;
mod bins;
mod boost;
mod bootstrap;
mod evaluate;
mod folds;
mod grow;
mod learn;
mod linear;
#[cfg(test)]
mod made;
mod measure;
mod outcome;
mod recall;
mod sample;
mod softmax;
mod solve;
mod step;

pub use bootstrap::Gain;
pub use learn::{Options, learn};
pub use outcome::{Figures, Outcome, Reason};
pub use recall::{JudgedCandidate, JudgedRecall, Verdict};
