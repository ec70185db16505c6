import Foundation
import LoadReport
import PikaCore

extension Fleet {
    /// Sends messages at random times with a constant mean rate, without waiting for earlier ones (open model).
    func send(at rate: PerSecond, until end: Duration, bytes: Int) async {
        await arrivals(at: rate, until: end) { due in
            guard let (group, agent) = self.randomMember({ self.publishers(of: $0) }) else { return }
            self.send(agent, to: group, bytes: bytes, .due(due)) {}
        }
    }

    /// Members who each send, wait for a relay's answer, think, and send again (closed model).
    func converse(_ users: LoadPlan.Users, until end: Duration, bytes: Int) async {
        let places = createdGroups.flatMap { group in publishers(of: group).map { (group: group, agent: $0) } }
        guard !places.isEmpty else { return }
        await withDiscardingTaskGroup { tasks in
            for number in 0..<users.count {
                let place = places[number % places.count]
                tasks.addTask { await self.converse(from: place, thinking: users.think, bytes: bytes) }
            }
            try? await ContinuousClock().sleep(until: timeline.instant(end))
            // Stop waiting for relays; the messages are still in flight.
            tasks.cancelAll()
        }
    }

    private func converse(from first: (group: Int, agent: Int), thinking: Duration, bytes: Int) async {
        var place = first
        while !Task.isCancelled {
            if !monitor.isMember(place.agent, of: place.group) {
                guard let other = randomMember({ self.publishers(of: $0) }) else { return }
                place = other
            }
            let (sent, report) = AsyncStream.makeStream(of: Never.self)
            send(place.agent, to: place.group, bytes: bytes, .thinking(thinking)) { report.finish() }
            for await _ in sent {}
            do { try await Task.sleep(for: thinking) } catch { return }
        }
    }

    /// - Parameter done: called when a relay has accepted the message, or sending has failed.
    private func send(
        _ agent: Int, to group: Int, bytes: Int, _ pace: Pace, done: @escaping @Sendable () -> Void
    ) {
        guard let chatID = chat(of: group), let (stamp, times) = monitor.beginSend(agent, to: group, intended: pace.due)
        else { return done() }
        let send = PendingSend(group: group, stamp: stamp, times: times, thinking: pace.thinking, done: done)
        let message = OutgoingMessage(content: stamp.text(bytes: bytes))
        agents[agent].dispatch(.sendMessage(chatID: chatID, message)) { [monitor] result in
            switch result {
            case .success(.queued(let messageID, _)): monitor.queued(messageID, send)
            case .success: monitor.failSend(send, reason: "not queued")
            case .failure(let error): monitor.failSend(send, reason: error.loadReason)
            }
        }
    }

    /// The cause of a message's time.
    private enum Pace {
        /// The plan sets the time (open model).
        case due(Duration)
        /// The sender's pause after the answer to its previous message.
        case thinking(Duration)

        var due: Duration? { if case .due(let time) = self { time } else { nil } }
        var thinking: Duration? { if case .thinking(let time) = self { time } else { nil } }
    }

    // MARK: Randomness

    /// Calls `body` at the arrival times of a Poisson process.
    ///
    /// If the machine is late, overdue arrivals come at once, so that a slow system under test does not slow down the
    /// load.
    func arrivals(at rate: PerSecond, until end: Duration, _ body: (_ due: Duration) async -> Void) async {
        var due = timeline.now
        while !Task.isCancelled {
            let wait = draw { generator in -log(Double.random(in: Double.ulpOfOne..<1, using: &generator)) / rate.value
            }
            due += .seconds(wait)
            guard due < end else { break }
            do { try await ContinuousClock().sleep(until: timeline.instant(due)) } catch { return }
            await body(due)
        }
        try? await ContinuousClock().sleep(until: timeline.instant(end))
    }

    /// Returns a random group and one of its members; nil if no group has members.
    func randomMember(_ members: (Int) -> [Int]) -> (group: Int, agent: Int)? {
        let groups = createdGroups
        guard let group = draw({ groups.randomElement(using: &$0) }) else { return nil }
        let members = members(group)
        return draw { members.randomElement(using: &$0) }.map { (group, $0) }
    }
}
