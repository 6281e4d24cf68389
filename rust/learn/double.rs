//! Sums that do not depend on how the terms were grouped.

/// An unevaluated sum of two floats, about 106 bits: the rounding error of a long sum stays below half a unit
/// of the last place of `value()`, so shards merged in any grouping give the same bits. (A plain `f64` sum
/// changes its last digits with every other cut of the data; fixed-point integers would need the scale of
/// the rewards in advance.)
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Double {
    high: f64,
    low: f64,
}

impl Double {
    pub fn from_parts(high: f64, low: f64) -> Self {
        Double { high, low }
    }

    pub fn parts(self) -> (f64, f64) {
        (self.high, self.low)
    }

    /// Knuth's two-sum, then renormalisation.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let sum = self.high + term;
        let shadow = sum - self.high;
        let error = (self.high - (sum - shadow)) + (term - shadow);
        let low = self.low + error;
        self.high = sum + low;
        self.low = low - (self.high - sum);
    }

    #[inline]
    pub fn merge(&mut self, other: Double) {
        self.add(other.high);
        self.add(other.low);
    }

    pub fn negated(self) -> Self {
        Double { high: -self.high, low: -self.low }
    }

    #[inline]
    pub fn value(self) -> f64 {
        self.high + self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn grouping_does_not_change_the_bits() {
        let mut rng = Rng::stream(0, 0);
        let terms: Vec<f64> =
            (0..5000).map(|_| (rng.uniform() - 0.5) * 10f64.powi(rng.below(12) as i32 - 6)).collect();
        let sum = |part: &[f64]| {
            let mut total = Double::default();
            part.iter().for_each(|&term| total.add(term));
            total
        };
        let whole = sum(&terms).value();
        for cut in [1, 17, 2500, 4999] {
            let mut total = sum(&terms[..cut]);
            total.merge(sum(&terms[cut..]));
            assert_eq!(total.value().to_bits(), whole.to_bits());
        }
    }
}
