import Errors
import Marmot
import Testing

@testable import PikaCore

@Suite struct CoreReasonTests {
    @Test(arguments: [
        (CoreReason.notAdmin, MarmotError.Code.notAdmin), (.pastEpoch, .pastEpoch), (.lostRace, .lostRace),
        (.badTime, .badTime), (.epochTooHigh, .epochTooHigh), (.inactive, .inactive), (.duplicate, .duplicate),
        (.notForUs, .notForUs), (.expired, .expired),
    ])
    func protocolReasonsEqualErrorCodes(reason: CoreReason, code: MarmotError.Code) {
        #expect(reason.rawValue == code.description)
    }

    @Test(arguments: [
        WaitingReason.noKey, .futureEpoch, .missingProposal, .futureTime, .ownCommitPending, .otherCopy,
    ])
    func waitingReasonsKeepTheirCodes(reason: WaitingReason) {
        #expect(CoreReason(reason).rawValue == reason.rawValue)
    }
}
