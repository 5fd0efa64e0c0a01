//! How a provider is asked.

use std::fmt;

/// The state of a provider's circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// Calls are made.
    Closed,
    /// No calls are made.
    Open,
    /// One call is on trial.
    HalfOpen,
}

/// Why a call has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// The limit of requests a minute is reached.
    RequestsPerMinute,
    /// The limit of tokens a minute is reached.
    TokensPerMinute,
    /// The limit of concurrent calls is reached.
    ConcurrentCalls,
    /// The breaker is open, or another call is on trial.
    Breaker,
    /// The provider's `Retry-After` has not passed.
    RetryAfter,
}

/// Words that stand for variants, in rows and for people.
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ }) => {
        impl $type {
            /// As programs write it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($type::$variant => $word),+
                }
            }

            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some($type::$variant),)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words!(BreakerState { Closed = "closed", Open = "open", HalfOpen = "half_open" });
words!(HoldReason {
    RequestsPerMinute = "requests_per_minute",
    TokensPerMinute = "tokens_per_minute",
    ConcurrentCalls = "concurrent_calls",
    Breaker = "breaker",
    RetryAfter = "retry_after"
});
