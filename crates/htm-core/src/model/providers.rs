//! The state of a provider: its circuit breaker and its limits.

/// The state of a provider's circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(serde::Serialize, strum::Display, strum::EnumString, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum BreakerState {
    /// Calls are made.
    Closed,
    /// No calls are made.
    Open,
    /// One trial call is made.
    HalfOpen,
}

/// The reason why a call has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(serde::Serialize, strum::Display, strum::EnumString, strum::AsRefStr, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HoldReason {
    /// The limit of requests a minute is reached.
    RequestsPerMinute,
    /// The limit of tokens a minute is reached.
    TokensPerMinute,
    /// The limit of concurrent calls is reached.
    ConcurrentCalls,
    /// The breaker is open, or the trial call is still running.
    Breaker,
    /// The provider's `Retry-After` has not passed.
    RetryAfter,
}
