//! How a provider is asked.

/// The state of a provider's circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(serde::Serialize, strum::Display, strum::EnumString, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BreakerState {
    /// Calls are made.
    Closed,
    /// No calls are made.
    Open,
    /// One call is on trial.
    HalfOpen,
}

/// Why a call has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(serde::Serialize, strum::Display, strum::EnumString, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
