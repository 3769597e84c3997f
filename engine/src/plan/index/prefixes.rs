//! Finds all stored prefixes of a text.

/// A sorted list in which each prefix links to the longest other prefix that it starts with.
#[derive(Debug)]
pub(super) struct Prefixes<T> {
    sorted: Box<[PrefixEntry<T>]>,
}

#[derive(Debug)]
struct PrefixEntry<T> {
    prefix: Box<str>,
    /// The index of the longest proper prefix of this one.
    parent: Option<u32>,
    content: T,
}

impl<T> Prefixes<T> {
    /// Builds the list from distinct prefixes.
    pub(super) fn new(mut contents: Vec<(Box<str>, T)>) -> Self {
        contents.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut sorted: Vec<PrefixEntry<T>> = Vec::with_capacity(contents.len());
        for (prefix, content) in contents {
            // A proper prefix of this one sorts before it: it is the predecessor, or a prefix of the predecessor.
            let last = sorted.len().checked_sub(1).and_then(|last| u32::try_from(last).ok());
            let mut parent = last;
            while let Some(candidate) = parent {
                let entry = &sorted[candidate as usize];
                if prefix.starts_with(&*entry.prefix) {
                    break;
                }
                parent = entry.parent;
            }
            sorted.push(PrefixEntry { prefix, parent, content });
        }
        Self { sorted: sorted.into() }
    }

    /// Returns every prefix and its content.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&str, &T)> {
        self.sorted.iter().map(|entry| (&*entry.prefix, &entry.content))
    }

    /// Returns the heap bytes without the contents, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        let texts: usize = self.sorted.iter().map(|entry| entry.prefix.len()).sum();
        size_of_val::<[PrefixEntry<T>]>(&self.sorted) + texts
    }

    /// Visits the content of every prefix of `text`.
    pub(super) fn visit<'p>(&'p self, text: &str, mut visit: impl FnMut(&'p T)) {
        // As in `new`: a prefix of the text is the last entry that does not sort after the text, or a prefix of that
        // entry.
        let after = self.sorted.partition_point(|entry| *entry.prefix <= *text);
        let mut current = after.checked_sub(1);
        while let Some(index) = current {
            let entry = &self.sorted[index];
            if text.starts_with(&*entry.prefix) {
                visit(&entry.content);
            }
            current = entry.parent.map(|parent| parent as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_of_a_text_is_found() {
        let all = ["", "a", "ab", "abc", "abd", "b", "ä", "äb", "zz"];
        let prefixes = Prefixes::new(all.map(|text| (text.into(), text)).into());
        for text in ["", "a", "ab", "abcd", "abdz", "abe", "ac", "ba", "ä", "äbc", "äc", "z", "zzz"]
        {
            let mut found = Vec::new();
            prefixes.visit(text, |prefix| found.push(*prefix));
            found.reverse();
            let expected: Vec<_> =
                all.into_iter().filter(|prefix| text.starts_with(prefix)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
