/// Arithmetic on untrusted numbers: a result outside the type's range becomes the nearest bound.
extension FixedWidthInteger {
    /// Returns the sum, or the nearest bound of the type if it overflows.
    public func clampedAdding(_ other: Self) -> Self {
        let (sum, overflow) = self.addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the nearest bound of the type if it overflows.
    public func clampedSubtracting(_ other: Self) -> Self {
        let (difference, overflow) = self.subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// Returns the product, or the nearest bound of the type if it overflows.
    public func clampedMultiplied(by other: Self) -> Self {
        let (product, overflow) = self.multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
