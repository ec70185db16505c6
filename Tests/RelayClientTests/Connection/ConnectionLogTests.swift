import Logging
import PikaCore
import Testing

@testable import RelayClient

@Suite struct ConnectionLogTests {
    @Test func outageIsOneWarningWithRemedy() {
        let entries = (1...20).map { RelayConnectionState.retrying(attempt: $0, reason: "connection refused").logEntry }
        let warnings = entries.filter { $0.level >= .warning }
        #expect(warnings.count == 1)
        #expect(warnings.first.map { "\($0.message)".contains("check that it is running") } == true)
        #expect(entries[2].level == .warning && entries[1].level == .info)
    }
}
