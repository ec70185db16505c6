import Foundation
import LoadReport
import PikaCore

extension Fleet {
    /// Messages that fall due at random moments at an even rate, whether or not earlier ones have gone out.
    func send(at rate: PerSecond, until end: Duration, bytes: Int) async {
        await arrivals(at: rate, until: end) { due in
            guard let (group, agent) = self.someMember({ self.publishers(of: $0) }) else { return }
            self.send(agent, to: group, bytes: bytes, .due(due)) {}
        }
    }

    /// Members who each send, wait until a relay has it, think, and send again.
    func converse(_ users: LoadPlan.Users, until end: Duration, bytes: Int) async {
        let places = foundedGroups.flatMap { group in publishers(of: group).map { (group: group, agent: $0) } }
        guard !places.isEmpty else { return }
        await withDiscardingTaskGroup { tasks in
            for number in 0..<users.count {
                let place = places[number % places.count]
                tasks.addTask { await self.converse(from: place, thinking: users.think, bytes: bytes) }
            }
            try? await ContinuousClock().sleep(until: timeline.instant(end))
            // Whoever waits for a relay waits no longer; the message is still on its way.
            tasks.cancelAll()
        }
    }

    private func converse(from first: (group: Int, agent: Int), thinking: Duration, bytes: Int) async {
        var place = first
        while !Task.isCancelled {
            if !board.isMember(place.agent, of: place.group) {
                guard let other = someMember({ self.publishers(of: $0) }) else { return }
                place = other
            }
            let (sent, report) = AsyncStream.makeStream(of: Never.self)
            send(place.agent, to: place.group, bytes: bytes, .thinking(thinking)) { report.finish() }
            for await _ in sent {}
            do { try await Task.sleep(for: thinking) } catch { return }
        }
    }

    /// - Parameter done: called when a relay has the message or it is known that none will.
    private func send(
        _ agent: Int, to group: Int, bytes: Int, _ pace: Pace, done: @escaping @Sendable () -> Void
    ) {
        guard let chatID = chat(of: group), let (stamp, times) = board.sends(agent, to: group, intended: pace.due)
        else { return done() }
        let send = PendingSend(group: group, stamp: stamp, times: times, thinking: pace.thinking, done: done)
        let message = OutgoingMessage(content: stamp.text(bytes: bytes))
        agents[agent].dispatch(.sendMessage(chatID: chatID, message)) { [board] result in
            switch result {
            case .success(.queued(let messageID, _)): board.queued(messageID, send)
            case .success: board.notSent(send, reason: "not queued")
            case .failure(let error): board.notSent(send, reason: error.loadReason)
            }
        }
    }

    /// Who decides when a message goes out.
    private enum Pace {
        /// The plan.
        case due(Duration)
        /// Its sender, who had an answer to the one before and thought so long.
        case thinking(Duration)

        var due: Duration? { if case .due(let time) = self { time } else { nil } }
        var thinking: Duration? { if case .thinking(let time) = self { time } else { nil } }
    }

    // MARK: Chance

    /// Calls `body` with each moment at which something falls due: a Poisson process.
    ///
    /// When the machine is late, what fell due meanwhile comes at once, so that the load does not wait for who bears it.
    func arrivals(at rate: PerSecond, until end: Duration, _ body: (_ due: Duration) async -> Void) async {
        var due = timeline.now
        while !Task.isCancelled {
            let wait = roll { dice in -log(Double.random(in: Double.ulpOfOne..<1, using: &dice)) / rate.value }
            due += .seconds(wait)
            guard due < end else { break }
            do { try await ContinuousClock().sleep(until: timeline.instant(due)) } catch { return }
            await body(due)
        }
        try? await ContinuousClock().sleep(until: timeline.instant(end))
    }

    /// A group and one of its members; nil if nobody is there.
    func someMember(_ members: (Int) -> [Int]) -> (group: Int, agent: Int)? {
        let groups = foundedGroups
        guard let group = roll({ groups.randomElement(using: &$0) }) else { return nil }
        let members = members(group)
        return roll { members.randomElement(using: &$0) }.map { (group, $0) }
    }
}
