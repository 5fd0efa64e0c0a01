//! Network namespaces on a bridge: the workers on hosts of their own, as far as the network goes.

use std::process::Command;

/// Where the database and the provider listen: the bridge.
pub(crate) const HOST: &str = "10.203.77.1";
/// Of the bridge and of the namespaces.
pub(crate) const NETWORK: &str = "10.203.77.0/24";

/// Names of interfaces have at most 15 bytes.
const PREFIX: &str = "htmb";

/// Network namespaces, and the bridge that joins them with this one; gone when it is dropped.
pub(crate) struct Networks {
    bridge: String,
    names: Vec<String>,
}

impl Networks {
    /// Makes `count` namespaces.
    ///
    /// # Errors
    /// The machine lacks something, or does not allow it; then nothing is left behind.
    pub(crate) fn make(count: usize) -> Result<Self, String> {
        if !nix::unistd::geteuid().is_root() {
            return Err("it takes root".into());
        }
        let id = std::process::id();
        let mut networks = Self { bridge: format!("{PREFIX}{id}"), names: Vec::new() };
        let bridge = networks.bridge.clone();
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("addr add {HOST}/24 dev {bridge}"))?;
        ip(&format!("link set {bridge} up"))?;
        for number in 0..count {
            let name = format!("{bridge}-{number}");
            let (outside, inside) = (format!("{bridge}o{number}"), format!("{bridge}i{number}"));
            ip(&format!("netns add {name}"))?;
            networks.names.push(name.clone());
            ip(&format!("link add {outside} type veth peer name {inside} netns {name}"))?;
            ip(&format!("link set {outside} master {bridge} up"))?;
            ip(&format!("-n {name} addr add 10.203.77.{}/24 dev {inside}", number + 10))?;
            ip(&format!("-n {name} link set {inside} up"))?;
            ip(&format!("-n {name} link set lo up"))?;
        }
        Ok(networks)
    }

    pub(crate) fn name(&self, number: usize) -> &str {
        &self.names[number]
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        // A pair of interfaces goes with its namespace. What was not made need not be removed.
        for name in &self.names {
            if let Err(error) = ip(&format!("netns del {name}")) {
                eprintln!("a network namespace is left: {error}");
            }
        }
        // Silent: where it could not be made, that was said.
        let _ = ip(&format!("link del {}", self.bridge));
    }
}

fn ip(arguments: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(arguments.split(' ')).output().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "iproute2 (the program `ip`) is not installed".to_owned(),
            _ => format!("ip: {error}"),
        })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("`ip {arguments}` says: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}
