//! Arguments of `htm namespaces`.

use clap::{Args, Subcommand};

use crate::duration::parse_duration;

#[derive(Subcommand)]
pub(crate) enum NamespacesCommand {
    /// List namespaces
    List(NamespaceListArgs),
    /// Show or set the retention policy of a namespace
    Retention(RetentionArgs),
    /// Show or set the quota of a namespace
    Quota(QuotaArgs),
}

#[derive(Args)]
#[command(
    after_help = "A namespace is a path of labels, such as tenants/7/notes. Filters compare whole labels.

Examples:
  htm namespaces list --prefix tenants --depth 2
  htm namespaces list --prefix 'tenants/*' --suffix notes"
)]
pub(crate) struct NamespaceListArgs {
    /// Its first labels; * stands for any label
    #[arg(long, value_name = "LABELS")]
    pub(crate) prefix: Option<String>,
    /// Its last labels; * stands for any label
    #[arg(long, value_name = "LABELS")]
    pub(crate) suffix: Option<String>,
    /// Cut deeper namespaces to this number of labels, and list each once
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// The last namespace of the previous page
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) after: Option<String>,
    /// The number of namespaces, 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Args)]
#[command(
    after_help = "Workers carry out the policy every ten minutes. The age counts from when a memory happened, was \
remembered or was restored, whichever is latest. Only the named times change.

Examples:
  htm namespaces retention atlas
  htm namespaces retention atlas --forget-after 90d --purge-after 30d
  htm namespaces retention atlas --forget-after never"
)]
pub(crate) struct RetentionArgs {
    /// The namespace (default: memory.namespace)
    pub(crate) namespace: Option<String>,
    /// Forget memories of this age: 12h, 90d, or never
    #[arg(long, value_name = "AGE", value_parser = parse_seconds)]
    pub(crate) forget_after: Option<Seconds>,
    /// Purge memories that were forgotten this long ago: 0s, 30d, or never
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    pub(crate) purge_after: Option<Seconds>,
    /// Show what the next sweep would forget and purge; set nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Confirm a policy that forgets or purges memories at once
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
#[command(
    after_help = "A write beyond the quota is refused. A namespace already above its quota keeps its memories. Only the named limits \
change. A namespace is counted every 5 seconds, so it can exceed its quota by what other programs write in that time.
Requests to servers with keys and tokens of the namespace are counted; 'tenant-7/*' counts all below tenant-7 together.

Examples:
  htm namespaces quota atlas
  htm namespaces quota atlas --memories 100000 --bytes 50000000
  htm namespaces quota atlas --bytes none
  htm namespaces quota 'tenant-7/*' --requests-per-minute 600"
)]
pub(crate) struct QuotaArgs {
    /// The namespace (default: memory.namespace)
    pub(crate) namespace: Option<String>,
    /// The most live memories, or none
    #[arg(long, value_name = "N", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) memories: Option<Limit>,
    /// The most bytes of their texts, or none
    #[arg(long, value_name = "N", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) bytes: Option<Limit>,
    /// The most requests a minute over all servers, or none
    #[arg(long, value_name = "N", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) requests_per_minute: Option<Limit>,
}

/// Whether a value removes a limit: each takes the word of the others too.
pub(super) fn is_no_limit(text: &str) -> bool {
    matches!(text, "none" | "never")
}

/// A number; none for `none`.
#[derive(Clone, Copy)]
pub(crate) struct Limit(pub(crate) Option<i64>);

fn parse_limit(text: &str) -> Result<Limit, String> {
    if is_no_limit(text) {
        return Ok(Limit(None));
    }
    text.parse().map(|number| Limit(Some(number))).map_err(|_| "write a whole number, or none".into())
}

/// A number of seconds; none for `never`.
#[derive(Clone, Copy)]
pub(crate) struct Seconds(pub(crate) Option<i64>);

fn parse_seconds(text: &str) -> Result<Seconds, String> {
    if is_no_limit(text) {
        return Ok(Seconds(None));
    }
    let seconds = parse_duration(text).map_err(|help| format!("{help}, or never"))?.as_secs();
    i64::try_from(seconds).map(|seconds| Seconds(Some(seconds))).map_err(|error| error.to_string())
}
