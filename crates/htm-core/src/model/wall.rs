//! The wall: the restriction of a handle to some namespaces and to a robot.

use crate::model::settings::Settings;

/// The restriction of a handle, and settings with its own namespace and robot as the defaults.
#[derive(Clone)]
pub(crate) struct Wall {
    /// Namespaces, or those below one: `tenant-7/*`. None: all.
    pub(crate) namespaces: Option<Vec<String>>,
    /// The robot that the handle acts as. None: any.
    pub(crate) robot: Option<String>,
    pub(crate) settings: Settings,
}

/// Whether a namespace is among the given ones. `tenant-7/*` stands for every namespace below `tenant-7`. The function
/// `htm.is_within` of the database says the same.
pub(crate) fn is_within(namespace: &str, namespaces: &[String]) -> bool {
    namespaces.iter().any(|seen| {
        seen == namespace
            || above(seen).is_some_and(|above| namespace.len() > above.len() && namespace.starts_with(above))
    })
}

/// `tenant-7/` of `tenant-7/*`.
pub(crate) fn above(namespaces: &str) -> Option<&str> {
    namespaces.strip_suffix('*').filter(|above| above.len() > 1 && above.ends_with('/'))
}

/// The default namespace of a handle that sees these: its former one if it still sees it, otherwise the first, or a
/// namespace of the former name below the first.
pub(crate) fn default_of(former: &str, namespaces: &[String]) -> String {
    let Some(first) = namespaces.first().filter(|_| !is_within(former, namespaces)) else {
        return former.to_owned();
    };
    above(first).map_or_else(|| first.clone(), |above| format!("{above}{former}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_segments_count() {
        let seen = ["atlas".to_owned(), "tenant-7/*".to_owned()];
        for inside in ["atlas", "tenant-7/notes", "tenant-7/a/b", "tenant-7/*"] {
            assert!(is_within(inside, &seen), "{inside}");
        }
        for outside in
            ["atlas/notes", "atla", "tenant-7", "tenant-7/", "tenant-70/notes", "tenant-7x", "*", ""]
        {
            assert!(!is_within(outside, &seen), "{outside}");
        }
        // These are names, not patterns.
        assert!(!is_within("a", &["*".to_owned()]) && !is_within("/a", &["/*".to_owned()]));
    }

    #[test]
    fn a_handle_has_a_default_that_it_sees() {
        let of = |seen: &[&str]| {
            default_of("default", &seen.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["atlas", "default"]), "default");
        assert_eq!(of(&["atlas", "home"]), "atlas");
        assert_eq!(of(&["tenant-7/*", "home"]), "tenant-7/default");
        assert_eq!(of(&[]), "default");
    }
}
