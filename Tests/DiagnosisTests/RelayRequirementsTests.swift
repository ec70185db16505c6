import Diagnosis
import Nostr
import Testing

@Suite struct RelayRequirementsTests {
    private func judge(canLogIn: Bool = true, _ change: (inout RelayInformation.Limitation) -> Void) -> [Finding] {
        var limits = RelayInformation.Limitation()
        change(&limits)
        var findings = FindingList("relay")
        RelayRequirements.judge(limits, canLogIn: canLogIn, into: &findings)
        return findings.all
    }

    @Test func acceptsUsualLimits() {
        #expect(judge { _ in }.map(\.level) == [.ok])
        let common = judge {
            ($0.maxMessageLength, $0.maxContentLength, $0.maxSubscriptions) = (65_536, 65_535, 20)
            ($0.maxEventTags, $0.authenticationRequired, $0.createdAtLowerLimit) = (2_000, true, 94_608_000)
        }
        #expect(common.map(\.level) == [.ok])
    }

    @Test(arguments: [
        (16_383, Finding.Level.error), (16_384, .warning), (40_000, .warning), (61_440, .ok), (65_536, .ok),
    ])
    func reportsLowMessageLimits(bytes: Int, level: Finding.Level) {
        #expect(judge { $0.maxMessageLength = bytes }.map(\.level) == [level])
        #expect(judge { $0.maxContentLength = bytes }.map(\.level) == [level])
    }

    @Test func reportsEachProblem() {
        #expect(judge { $0.minProofOfWork = 12 }.map(\.level) == [.error])
        #expect(judge { $0.minProofOfWork = 0 }.map(\.level) == [.ok])
        #expect(judge { $0.maxEventTags = 11 }.map(\.level) == [.error])
        #expect(judge { $0.maxSubscriptions = 4 }.map(\.level) == [.warning])
        #expect(judge { $0.paymentRequired = true }.map(\.level) == [.warning])
        #expect(judge { $0.restrictedWrites = true }.map(\.level) == [.warning])
        #expect(judge { ($0.restrictedWrites, $0.authenticationRequired) = (true, true) }.map(\.level) == [.ok])
        #expect(judge { $0.createdAtLowerLimit = 86_400 }.map(\.level) == [.error])
        #expect(judge(canLogIn: false) { $0.authenticationRequired = true }.map(\.level) == [.warning])
        let all = judge { ($0.minProofOfWork, $0.paymentRequired, $0.maxEventTags) = (1, true, 1) }
        #expect(all.count == 3)
        #expect(all.allSatisfy { $0.advice != nil && $0.check == "limits" })
    }

    @Test func handlesExtremeValues() {
        for value in [Int.min, -1, 0, Int.max] {
            let findings = judge {
                ($0.maxMessageLength, $0.maxContentLength, $0.maxSubscriptions) = (value, value, value)
                ($0.maxEventTags, $0.minProofOfWork, $0.createdAtLowerLimit) = (value, value, value)
            }
            #expect(!findings.isEmpty)
        }
    }
}
