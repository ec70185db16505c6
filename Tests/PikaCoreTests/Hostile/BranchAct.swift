import BotTesting
import MLS
import Nostr

@testable import Marmot

/// An attack of a member, or of an admin, on the choice between branches.
enum BranchAct: String, CaseIterable {
    case rival, severalRivals, branch, deepBranch, withhold, forgedWitnesses, starve, rewrap, junk, flood, proposals

    /// Whether its commits may follow on earlier states than the newest.
    var goesBack: Bool {
        switch self {
        case .branch, .deepBranch, .withhold, .forgedWitnesses: true
        case .rival, .severalRivals, .starve, .rewrap, .junk, .flood, .proposals: false
        }
    }

    /// Returns the events to publish.
    ///
    /// - Parameters:
    ///   - events: those on the honest relay.
    ///   - maximumDepth: the number of epochs before the newest one in which a branch may begin.
    func perform(
        by account: inout BranchAdversary, isAdmin: Bool, reading events: [Event], maximumDepth: Int, now: UnixTime
    ) throws -> [Event] {
        let newest = try account.newest()
        switch self {
        case .rival: return [try account.commit(try self.change(by: &account, isAdmin), on: newest, now: now)]
        case .severalRivals:
            return try (0..<account.draw(2...5)).map { _ in
                try account.commit(try self.change(by: &account, isAdmin), on: newest, now: now)
            }
        case .branch:
            let back = account.draw(0...2)
            return try account.branch(2, from: self.base(of: account, back, maximumDepth), now: now)
        case .deepBranch:
            let depth = account.draw(3...maximumDepth + 3)
            return try account.branch(min(depth, 6), from: self.base(of: account, depth, maximumDepth), now: now)
        case .withhold: return try account.branch(account.draw(2...4), from: newest, now: now)
        case .forgedWitnesses:
            // One account speaks often on a branch that only it has.
            let back = account.draw(0...2)
            let base = try self.base(of: account, back, maximumDepth)
            var made = try account.branch(1, from: base, now: now)
            for number in 0..<account.draw(5...20) { made.append(try account.say("junk \(number)", now: now)) }
            return made
        case .starve:
            // A change whenever the others have settled.
            return try account.branch(account.draw(1...2), from: newest, now: now)
        case .rewrap:
            let known = events.filter { $0.kind == .groupEvent }.suffix(30)
            return try known.compactMap { try account.rewrap($0, now: now) }
        case .junk: return try account.junk(account.draw(1...6), now: now)
        case .flood:
            let words = try (0..<account.draw(10...40)).map { try account.say("junk \($0)", now: now) }
            return try words + account.junk(account.draw(10...40), now: now)
        case .proposals: return try account.propose(account.draw(1...30), now: now)
        }
    }

    private func change(by account: inout BranchAdversary, _ isAdmin: Bool) throws -> ComponentChange {
        guard isAdmin else { return .selfUpdate(nil) }
        switch account.draw(0...3) {
        case 0: return .profile(try GroupProfileState(name: "forged \(account.draw(0...999))"))
        case 1: return .retention(seconds: UInt64(account.draw(50_000...90_000)))
        case 2: return .avatar(try AvatarURL(url: "https://forged.example/\(account.draw(0...999))"))
        default: return .selfUpdate(nil)
        }
    }

    /// A state some epochs before the newest.
    private func base(of account: BranchAdversary, _ back: Int, _ maximumDepth: Int) throws -> ComponentGroup {
        let newest = try account.newest()
        let oldest = newest.epoch.earlier(by: min(back, maximumDepth))
        return account.states.first { $0.epoch >= oldest } ?? newest
    }
}
