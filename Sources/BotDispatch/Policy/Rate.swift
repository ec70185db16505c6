import PikaCore

/// A number of events per unit of time, written `6/min`.
public struct Rate: Hashable, Sendable, CustomStringConvertible {
    public enum Unit: String, Hashable, Sendable, CaseIterable {
        case second = "s"
        case minute = "min"
        case hour = "h"

        public var duration: Duration {
            switch self {
            case .second: .seconds(1)
            case .minute: .seconds(60)
            case .hour: .seconds(3600)
            }
        }
    }

    public var count: Int
    public var per: Unit

    public init(_ count: Int, per unit: Unit) {
        self.count = count
        per = unit
    }

    public var description: String { "\(count)/\(per.rawValue)" }
}

extension Rate {
    var limit: RateLimit { RateLimit(count, per: per.duration) }
}
