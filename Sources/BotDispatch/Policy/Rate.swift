package import PikaCore

/// A number of events per unit of time, written `6/min`.
public struct Rate: Hashable, Sendable, CustomStringConvertible {
    /// A unit of time, with its written form as the raw value.
    public enum Unit: String, Hashable, Sendable, CaseIterable {
        /// One second, written `s`.
        case second = "s"
        /// One minute, written `min`.
        case minute = "min"
        /// One hour, written `h`.
        case hour = "h"

        /// The length of the unit.
        public var duration: Duration {
            switch self {
            case .second: .seconds(1)
            case .minute: .seconds(60)
            case .hour: .seconds(3600)
            }
        }
    }

    /// The maximum number of events per unit.
    public var count: Int
    /// The unit of time.
    public var per: Unit

    /// Creates a rate of `count` events per unit.
    public init(_ count: Int, per unit: Unit) {
        self.count = count
        per = unit
    }

    /// The rate as written, such as `6/min`.
    public var description: String { "\(count)/\(per.rawValue)" }
}

extension Rate {
    /// The rate as a limit of the core.
    package var limit: RateLimit { RateLimit(count, per: per.duration) }
}
