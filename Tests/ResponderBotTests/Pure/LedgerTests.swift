import Nostr
import Testing

@testable import ResponderBot

struct LedgerTests {
    private let account = TokenLedger.Account(key: "tokens/a", budget: TokenBudget(tokens: 100, window: 3600))
    private let other = TokenLedger.Account(key: "tokens/b", budget: TokenBudget(tokens: 1000, window: 3600))

    @Test func reservationsCountUntilSettled() {
        let ledger = TokenLedger()
        #expect(ledger.reserve(60, in: [account], at: 0, stored: [:]))
        #expect(!ledger.reserve(60, in: [account], at: 0, stored: [:]))
        ledger.settle(60, used: 10, in: [account])
        #expect(ledger.reserve(60, in: [account], at: 0, stored: [:]))
        ledger.settle(60, used: 95, in: [account])
        #expect(!ledger.reserve(1, in: [account], at: 3599, stored: [:]))
        #expect(ledger.reserve(1, in: [account], at: 3600, stored: [:]))
    }

    @Test func reservesInAllAccountsOrNone() {
        let ledger = TokenLedger()
        #expect(!ledger.reserve(200, in: [other, account], at: 0, stored: [:]))
        #expect(ledger.reserve(1000, in: [other], at: 0, stored: [:]))
    }

    @Test func continuesFromStoredRecords() throws {
        let ledger = TokenLedger()
        #expect(ledger.reserve(50, in: [account], at: 7200, stored: [:]))
        ledger.settle(50, used: 80, in: [account])
        let kept = try #require(ledger.text(of: account))
        #expect(kept == "2 80")
        #expect(!TokenLedger().reserve(30, in: [account], at: 7300, stored: [account.key: kept]))
        #expect(TokenLedger().reserve(20, in: [account], at: 7300, stored: [account.key: kept]))
        #expect(TokenLedger().reserve(100, in: [account], at: 10_800, stored: [account.key: kept]))
    }

    @Test(arguments: ["", "2", "2 x", "2 -5", "x 5", "2 5 5", "99999999999999999999 1"])
    func ignoresInvalidRecords(_ text: String) {
        #expect(TokenLedger().reserve(100, in: [account], at: 7300, stored: [account.key: text]))
    }

    @Test func extremeUsageDoesNotOverflow() {
        let ledger = TokenLedger()
        #expect(ledger.reserve(1, in: [account], at: 0, stored: [account.key: "0 99"]))
        ledger.settle(1, used: .max, in: [account])
        ledger.settle(0, used: .max, in: [account])
        #expect(!ledger.reserve(1, in: [account], at: 1, stored: [:]))
        ledger.settle(0, used: -5, in: [account])
    }

    @Test func cooldownsRoundTripAsText() {
        var cooldowns = Cooldowns()
        let begun = [cooldowns.begin("ann", at: 100, seconds: 60), cooldowns.begin("bob", at: 130, seconds: 60)]
        #expect(begun == [true, true])
        let tooEarly = cooldowns.begin("ann", at: 159, seconds: 60)
        #expect(!tooEarly)
        #expect(cooldowns.text == "ann 160\nbob 190")
        var read = Cooldowns(text: cooldowns.text)
        #expect(read == cooldowns)
        let later = [read.begin("ann", at: 160, seconds: 60), read.begin("chat", at: 1_000, seconds: 60)]
        #expect(later == [true, true])
        #expect(read.text == "chat 1060")
        #expect(Cooldowns(text: "x\ny z\n a 1 2\n") == Cooldowns())
    }

    @Test func clockSetBackDoesNotExtendCooldowns() {
        var cooldowns = Cooldowns()
        let begun = [
            cooldowns.begin("chat", at: 1_000_000, seconds: 60), cooldowns.begin("chat", at: 1_000, seconds: 60),
        ]
        #expect(begun == [true, true])
    }
}
