//! The change of an optional value.

/// The change of an optional value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldChange<T> {
    /// Keep it.
    #[default]
    Keep,
    /// Set it to this.
    Set(T),
    /// Remove it.
    Clear,
}

impl<T> FieldChange<T> {
    /// The new value, if one is set.
    pub(crate) fn set(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }

    /// Whether the value changes, and to what.
    pub(crate) fn parts(self) -> (bool, Option<T>) {
        match self {
            Self::Keep => (false, None),
            Self::Set(value) => (true, Some(value)),
            Self::Clear => (true, None),
        }
    }
}

impl<T: Clone + PartialEq> FieldChange<T> {
    /// Applies the change; true if the value differs now.
    pub fn apply(&self, value: &mut Option<T>) -> bool {
        let (is_changed, new) = self.clone().parts();
        if !is_changed || *value == new {
            return false;
        }
        *value = new;
        true
    }
}
