//! Sums that do not depend on how the terms were grouped.

/// An unevaluated sum of two floats, about 106 bits. Terms that are multiples of one `Quantum` are added without
/// any rounding, so shards merged in any grouping give the same bits. (A plain `f64` sum changes its last digits
/// with every other cut of the data. Counting in 128-bit integers instead was measured: exact as well, no faster.)
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Double {
    high: f64,
    low: f64,
}

impl Double {
    /// The rounded sum, and what rounding took from it.
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
    pub(crate) fn merge(&mut self, other: Double) {
        self.add(other.high);
        self.add(other.low);
    }
}

/// The grid that terms are rounded to before they are summed: 2⁻⁶⁰ of a power of two near the largest reward.
/// What is lost is far below the rounding of the products themselves, and sums of up to 2⁴⁶ times that reward
/// are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantum {
    /// Larger numbers are on the grid already: they have no finer bits.
    limit: f64,
    /// Adding and taking away this number rounds to the grid.
    shift: f64,
}

impl Quantum {
    /// The grid for terms of about this size.
    pub fn for_size(size: f64) -> Self {
        let size = if size.is_finite() && size > 0.0 { size } else { 1.0 };
        let exponent = (libm::ilogb(size) + 1).clamp(-900, 1000);
        let limit = libm::ldexp(1.0, exponent - 9);
        Quantum { limit, shift: 3.0 * limit }
    }

    #[inline]
    pub(crate) fn round(self, term: f64) -> f64 {
        if term.abs() < self.limit { (term + self.shift) - self.shift } else { term }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_grid_is_fine_and_regular() {
        let quantum = Quantum::for_size(1.0);
        let unit = 2f64.powi(-59);
        for term in [0.3, 1e-3, -1e-9, 1e-17, 1e-30, -7.25] {
            let rounded = quantum.round(term);
            assert!((rounded - term).abs() <= unit / 2.0 + term.abs() * 1e-16);
            assert_eq!((rounded / unit).fract(), 0.0);
        }
    }

    #[test]
    fn grouping_does_not_change_the_bits() {
        let mut rng = Rng::stream(0, 0);
        let quantum = Quantum::for_size(1e6);
        let mut terms: Vec<f64> =
            (0..5000).map(|_| (rng.uniform() - 0.5) * 10f64.powi(rng.below(30) as i32 - 24)).collect();
        terms.extend(terms.clone().iter().map(|term| -term * (1.0 + 1e-15)));
        terms.iter_mut().for_each(|term| *term = quantum.round(*term));
        let sum = |part: &[f64]| {
            let mut total = Double::default();
            part.iter().for_each(|&term| total.add(term));
            total
        };
        let whole = sum(&terms);
        for cut in [1, 17, 2500, 5000, 9999] {
            let mut total = sum(&terms[..cut]);
            total.merge(sum(&terms[cut..]));
            assert_eq!(total, whole);
        }
    }
}
