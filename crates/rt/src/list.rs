//! A list of limited length, without a heap and without a way to panic.

/// Up to `N` elements.
#[derive(Clone, Copy)]
pub struct List<T: Copy, const N: usize> {
    elements: [T; N],
    count: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// An empty list; `filler` is what its unused places hold.
    pub const fn new(filler: T) -> List<T, N> {
        List {
            elements: [filler; N],
            count: 0,
        }
    }

    /// Adds an element; `false` if there is no room.
    pub fn push(&mut self, element: T) -> bool {
        let Some(place) = self.elements.get_mut(self.count) else {
            return false;
        };
        *place = element;
        self.count += 1;
        true
    }

    /// Takes the last element.
    pub fn pop(&mut self) -> Option<T> {
        self.count = self.count.checked_sub(1)?;
        self.elements.get(self.count).copied()
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        self.elements.get(..self.count).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_fits() {
        let mut list: List<u32, 2> = List::new(0);
        assert!(list.as_slice().is_empty() && list.pop().is_none());
        assert!(list.push(5) && list.push(6) && !list.push(7));
        assert_eq!(list.as_slice(), [5, 6]);
        assert_eq!(list.pop(), Some(6));
        assert_eq!(list.as_slice(), [5]);
    }
}
