import BotTesting
import PikaCore

/// Assertions among the steps of a scenario.
extension ScenarioRun {
    func check(_ assertion: ScenarioVector.Assertion, at index: Int) throws {
        let predicate = assertion.predicate
        guard assertion.mode == "exactly", predicate.type == "payload_count" else {
            throw ScenarioError("unknown assertion \(assertion)")
        }
        let member = try self.member(predicate.client)
        let count = self.chats.values.reduce(0) { sum, chat in
            sum + member.visibleTexts(in: chat).count(where: { $0 == predicate.payload })
        }
        if count != predicate.count {
            self.fail("step \(index): \(member.name) has \(predicate.payload ?? "") \(count) times")
        }
    }

    func expectError(_ step: ScenarioVector.Step, at index: Int, in chat: ChatID) async throws {
        let member = try self.member(step.client)
        let admins = try (step.admins ?? []).map { try self.member($0).publicKey }
        let outcome = try await member.attempt(.setGroupAdmins(chatID: chat, admins: admins))
        guard case .failed(let error)? = outcome else {
            return self.fail("step \(index): \(member.name) may set the admins: \(String(describing: outcome))")
        }
        // The simulator's names of refusals are its own; ours must be one by the group's rules.
        let others: [AppCoreError.Code] = [.busy, .noRelay, .refused, .unknownChat]
        if others.contains(error.code) { self.fail("step \(index): refused with \(error)") }
    }
}
