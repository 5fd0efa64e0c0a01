//! Permits for what takes long: streams of events, imports, exports. The keys of a namespace together get a part of them
//! only.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use htm_core::Htm;

use crate::codes;
use crate::problem::{Problem, Result};

/// The permits of the process for one kind of request.
pub(crate) struct Permits {
    what: &'static str,
    most: usize,
    most_of_a_tenant: usize,
    held: Mutex<Held>,
}

/// The permits that are held.
struct Held {
    number: usize,
    /// The numbers by namespace, of keys that have namespaces. A key of several counts in each.
    by_namespace: BTreeMap<String, usize>,
}

/// A permit. It ends when it is dropped.
pub(crate) struct Permit {
    of: &'static Permits,
    /// Those of the key; empty: all.
    namespaces: Vec<String>,
}

impl Permits {
    /// `what` follows a number: "imports are running".
    pub(crate) const fn new(what: &'static str, most: usize, most_of_a_tenant: usize) -> Self {
        let held = Held { number: 0, by_namespace: BTreeMap::new() };
        Self { what, most, most_of_a_tenant, held: Mutex::new(held) }
    }

    /// A permit for a request with this handle.
    ///
    /// # Errors
    /// `too_busy`.
    pub(crate) fn take(&'static self, htm: &Htm) -> Result<Permit> {
        self.take_for(htm.namespaces().unwrap_or_default())
    }

    fn take_for(&'static self, namespaces: &[String]) -> Result<Permit> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = |most, whose| {
            let problem = format!("{most} {}{whose}, as many as may at a time", self.what);
            Err(Problem::new(codes::TOO_BUSY, problem))
        };
        if held.number >= self.most {
            return refused(self.most, "");
        }
        let of = |namespace| held.by_namespace.get(namespace).copied().unwrap_or_default();
        if namespaces.iter().any(|namespace| of(namespace) >= self.most_of_a_tenant) {
            return refused(self.most_of_a_tenant, " for a namespace of this key");
        }
        held.number += 1;
        for namespace in namespaces {
            *held.by_namespace.entry(namespace.clone()).or_default() += 1;
        }
        Ok(Permit { of: self, namespaces: namespaces.to_vec() })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut held = self.of.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.number -= 1;
        for namespace in &self.namespaces {
            match held.by_namespace.get_mut(namespace) {
                Some(number) if *number > 1 => *number -= 1,
                _ => drop(held.by_namespace.remove(namespace)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_gets_a_part_of_them_and_gives_them_back() {
        static PERMITS: Permits = Permits::new("imports are running", 4, 2);
        let key = |namespaces: &[&str]| namespaces.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let take = |namespaces| PERMITS.take_for(&key(namespaces));
        let refused = |namespaces| {
            let problem = take(namespaces).map(drop).unwrap_err();
            serde_json::to_value(problem.details()).unwrap()["detail"].clone()
        };
        // One key of the namespace alone, one of another namespace too.
        let mut own = vec![take(&["a"]).unwrap(), take(&["c", "a"]).unwrap()];
        let said = "2 imports are running for a namespace of this key, as many as may at a time";
        assert_eq!(refused(&["a"]), said);
        assert_eq!(refused(&["a", "b"]), said);
        let others = [take(&["b"]).unwrap(), take(&[]).unwrap()];
        assert_eq!(refused(&["c"]), "4 imports are running, as many as may at a time");
        own.pop();
        assert!(take(&["a"]).is_ok());
        drop((own, others));
        assert!(PERMITS.held.lock().unwrap().by_namespace.is_empty());
        // Who sees all namespaces may have all of them.
        let all = [(); 4].map(|()| take(&[]).unwrap());
        assert_eq!(refused(&[]), "4 imports are running, as many as may at a time");
        drop(all);
    }
}
