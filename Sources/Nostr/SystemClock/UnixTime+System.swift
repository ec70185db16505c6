import Foundation

extension UnixTime {
    /// The time of the system clock, for programs; in the protocol layers times are arguments.
    package static var systemTime: UnixTime { UnixTime(Int64(Date().timeIntervalSince1970)) }
}
