//! What all requests share: permits for requests, and for those that take long (streams of events, imports, exports), and
//! the memory for bodies. The keys of the same namespaces get a part of each only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use htm_core::Htm;

use crate::codes;
use crate::problem::{Problem, Result};

/// The namespaces that a principal sees, in order. None: all.
pub(crate) type Tenant = Option<Vec<String>>;

/// A number of things that requests share.
#[derive(Clone)]
pub(crate) struct Shares(Arc<Held>);

struct Held {
    most: usize,
    /// The most of all tenants. The rest is for those who see all namespaces.
    most_of_tenants: usize,
    most_of_a_tenant: usize,
    by_tenant: Mutex<BTreeMap<Tenant, usize>>,
}

/// Some of these things. They are given back when it is dropped.
pub(crate) struct Share {
    of: Shares,
    tenant: Tenant,
    amount: usize,
}

/// There are too few left.
#[derive(Debug)]
pub(crate) struct Full {
    pub(crate) most: usize,
    /// Follows what there is too little of.
    pub(crate) whose: &'static str,
}

impl Shares {
    /// A tenant gets half of them at most. All tenants together leave an eighth for others.
    pub(crate) fn new(most: usize) -> Self {
        Self::with(most, most - most / 8, most.div_ceil(2))
    }

    fn with(most: usize, most_of_tenants: usize, most_of_a_tenant: usize) -> Self {
        Self(Arc::new(Held { most, most_of_tenants, most_of_a_tenant, by_tenant: Mutex::default() }))
    }

    /// Takes some for a tenant.
    pub(crate) fn take(&self, tenant: &Tenant, amount: usize) -> Result<Share, Full> {
        let Held { most, most_of_tenants, most_of_a_tenant, by_tenant } = &*self.0;
        let mut held = by_tenant.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.get(tenant).copied().unwrap_or_default();
        let all: usize = held.values().sum();
        let of_tenants = all - held.get(&None).copied().unwrap_or_default();
        let is_tenant = tenant.is_some();
        if all + amount > *most {
            return Err(Full { most: *most, whose: "" });
        }
        if is_tenant && own + amount > *most_of_a_tenant {
            return Err(Full { most: *most_of_a_tenant, whose: " for the namespaces of this key" });
        }
        if is_tenant && of_tenants + amount > *most_of_tenants {
            return Err(Full { most: *most_of_tenants, whose: " for all keys with limited namespaces" });
        }
        held.insert(tenant.clone(), own + amount);
        Ok(Share { of: self.clone(), tenant: tenant.clone(), amount })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.of.0.by_tenant.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get_mut(&self.tenant) {
            Some(own) if *own > self.amount => *own -= self.amount,
            _ => drop(held.remove(&self.tenant)),
        }
    }
}

/// The tenant of a handle.
pub(crate) fn tenant(htm: &Htm) -> Tenant {
    let mut namespaces = htm.namespaces().map(<[String]>::to_vec)?;
    namespaces.sort();
    namespaces.dedup();
    Some(namespaces)
}

/// The permits of one kind of request.
pub(crate) struct Permits {
    what: &'static str,
    shares: Shares,
}

/// A permit. It ends when it is dropped.
pub(crate) type Permit = Share;

impl Permits {
    /// `what` follows a number: "imports are running".
    pub(crate) fn new(what: &'static str, most: usize, most_of_a_tenant: usize) -> Self {
        Self { what, shares: Shares::with(most, most, most_of_a_tenant) }
    }

    /// The permits for requests.
    pub(crate) fn of_requests(most: usize) -> Self {
        Self { what: "requests are in hand", shares: Shares::new(most) }
    }

    /// A permit for a request with this handle.
    ///
    /// # Errors
    /// `too_busy`.
    pub(crate) fn take(&self, htm: &Htm) -> Result<Permit> {
        self.take_for(&tenant(htm))
    }

    fn take_for(&self, tenant: &Tenant) -> Result<Permit> {
        self.shares.take(tenant, 1).map_err(|Full { most, whose }| {
            let problem = format!("{most} {}{whose}, the most at a time", self.what);
            Problem::new(codes::TOO_BUSY, problem)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Tenant {
        Some(vec![name.to_owned()])
    }

    #[test]
    fn a_tenant_gets_a_part_of_them_and_gives_them_back() {
        let permits = Permits::new("imports are running", 4, 2);
        let refused = |tenant| {
            let problem = permits.take_for(&tenant).map(drop).unwrap_err();
            serde_json::to_value(problem.details()).unwrap()["detail"].clone()
        };
        let mut own = vec![permits.take_for(&named("a")).unwrap(), permits.take_for(&named("a")).unwrap()];
        let said = "2 imports are running for the namespaces of this key, the most at a time";
        assert_eq!(refused(named("a")), said);
        let others = [permits.take_for(&named("b")).unwrap(), permits.take_for(&None).unwrap()];
        assert_eq!(refused(named("c")), "4 imports are running, the most at a time");
        own.pop();
        assert!(permits.take_for(&named("a")).is_ok());
        drop((own, others));
        assert!(permits.shares.0.by_tenant.lock().unwrap().is_empty());
        // Who sees all namespaces may have all of them.
        let all = [(); 4].map(|()| permits.take_for(&None).unwrap());
        assert_eq!(refused(None), "4 imports are running, the most at a time");
        drop(all);
    }

    #[test]
    fn tenants_leave_some_for_those_who_see_all_namespaces() {
        let shares = Shares::new(16);
        let a = shares.take(&named("a"), 8).map_err(drop).unwrap();
        assert_eq!(shares.take(&named("a"), 1).map(drop).unwrap_err().most, 8);
        let b = shares.take(&named("b"), 6).map_err(drop).unwrap();
        let full = shares.take(&named("c"), 1).map(drop).unwrap_err();
        assert_eq!((full.most, full.whose), (14, " for all keys with limited namespaces"));
        let all = shares.take(&None, 2).map_err(drop).unwrap();
        assert_eq!(shares.take(&None, 1).map(drop).unwrap_err().most, 16);
        drop((a, b, all));
        // One of one is for anybody.
        assert!(Shares::new(1).take(&named("a"), 1).is_ok());
        assert!(shares.take(&None, 16).is_ok());
    }
}
