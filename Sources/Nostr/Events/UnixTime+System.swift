import Foundation

extension UnixTime {
    /// The time of the system clock.
    package static var systemTime: UnixTime { UnixTime(Int64(Date().timeIntervalSince1970)) }
}
