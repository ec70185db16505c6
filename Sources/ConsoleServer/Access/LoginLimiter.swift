/// The limit of failed logins: by address, and of all addresses together. Pure.
///
/// A token has 256 bits, so that guessing is hopeless; the limit keeps attempts from costing time and log lines.
struct LoginLimiter: Sendable {
    private struct Window: Sendable {
        var start: Int64
        var failures = 0
    }

    /// Milliseconds of a window.
    static let window: Int64 = 60_000
    static let failuresOfAddress = 10
    static let failuresOfAll = 100
    /// Addresses that are remembered; beyond it the oldest windows are forgotten, and ``failuresOfAll`` remains.
    static let maximumAddresses = 1_024

    private var addresses: [String: Window] = [:]
    private var all = Window(start: .min)

    var addressCount: Int { addresses.count }

    /// Returns the seconds to wait before another attempt; nil if one is allowed now.
    func delay(of address: String, now: Int64) -> Int64? {
        let own = addresses[address].flatMap { Self.delay($0, limit: Self.failuresOfAddress, now) }
        return own ?? Self.delay(all, limit: Self.failuresOfAll, now)
    }

    mutating func noteFailure(of address: String, now: Int64) {
        Self.count(&all, now)
        var window = addresses[address] ?? Window(start: now)
        Self.count(&window, now)
        addresses[address] = window
        guard addresses.count > Self.maximumAddresses else { return }
        addresses = addresses.filter { Self.isOpen($0.value, now) }
        while addresses.count > Self.maximumAddresses,
            let oldest = addresses.min(by: { $0.value.start < $1.value.start })
        {
            addresses[oldest.key] = nil
        }
    }

    private static func isOpen(_ window: Window, _ now: Int64) -> Bool {
        let (age, overflow) = now.subtractingReportingOverflow(window.start)
        return !overflow && age < Self.window
    }

    private static func count(_ window: inout Window, _ now: Int64) {
        if !isOpen(window, now) { window = Window(start: now) }
        window.failures = min(window.failures + 1, failuresOfAll)
    }

    private static func delay(_ window: Window, limit: Int, _ now: Int64) -> Int64? {
        guard window.failures >= limit, isOpen(window, now) else { return nil }
        return max(1, (window.start + Self.window - now + 999) / 1_000)
    }
}
