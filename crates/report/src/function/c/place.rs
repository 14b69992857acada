//! Where a value lies: an expression of C.

/// An object, or what a pointer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `t3[0]`.
    Object(String),
    /// What this expression points to.
    Behind(String),
}

impl Place {
    /// A member; without a name it is that of an anonymous structure, whose members count as the outer's.
    pub fn member(&self, name: &str) -> Place {
        match self {
            _ if name.is_empty() => self.clone(),
            Place::Object(object) => Place::Object(format!("{object}.{name}")),
            Place::Behind(pointer) => Place::Object(format!("{pointer}->{name}")),
        }
    }

    /// An element of an array, or of what a pointer leads to.
    pub fn element(&self, index: usize) -> Place {
        match self {
            Place::Object(text) | Place::Behind(text) => Place::Object(format!("{text}[{index}]")),
        }
    }

    /// The value there.
    pub fn value(&self) -> String {
        match self {
            Place::Object(object) => object.clone(),
            Place::Behind(pointer) => format!("*{pointer}"),
        }
    }

    /// A pointer to it.
    pub fn address(&self) -> String {
        match self {
            Place::Object(object) => format!("&{object}"),
            Place::Behind(pointer) => pointer.clone(),
        }
    }
}
