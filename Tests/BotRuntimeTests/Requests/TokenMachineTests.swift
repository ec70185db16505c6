import BotTesting
import Testing

@testable import BotKit

struct TokenMachineTests {
    private var machine = TokenMachine(isSignedIn: true, maximumWaiting: 3)

    @Test mutating func renewsOnceForAllRequests() {
        let first = machine.refused(1, generation: 0, isRetry: false)
        let second = machine.refused(2, generation: 0, isRetry: false)
        let third = machine.begin(3)
        #expect(first == .renew)
        #expect(second == .wait)
        #expect(third == .wait)
        let released = machine.renewed(.stored)
        #expect(released.map { $0.request } == [1, 2, 3])
        #expect(released.allSatisfy { $0.decision == .send(generation: 1) })
        let late = machine.refused(4, generation: 0, isRetry: false)
        #expect(late == .send(generation: 1))
    }

    @Test mutating func retriesEachRequestOnce() {
        let decision = machine.refused(1, generation: 0, isRetry: true)
        #expect(decision == .fail(.unauthorized))
        #expect(machine.stage == .ready)
    }

    @Test mutating func rotatedTokenSignsOut() {
        _ = machine.refused(1, generation: 0, isRetry: false)
        let released = machine.renewed(.refused)
        #expect(released.map { $0.decision } == [.fail(.signedOut)])
        let next = machine.begin(2)
        #expect(next == .fail(.signedOut))
    }

    @Test mutating func boundsWaitingRequests() {
        for request in 1...3 { _ = machine.refused(request, generation: 0, isRetry: false) }
        let decision = machine.begin(4)
        #expect(decision == .fail(.crowded))
    }

    /// Random inputs: a request waits only while a renewal runs, and every waiting request is released.
    @Test(arguments: UInt64(0)..<50) func releasesEveryWaitingRequest(seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "tokens")
        var machine = TokenMachine(isSignedIn: true, maximumWaiting: 8)
        var waiting: Set<Int> = []
        for request in 0..<300 {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...4:
                let generation = max(0, machine.generation - Int.random(in: 0...1, using: &generator))
                let isRetry = Int.random(in: 0..<4, using: &generator) == 0
                let decision = machine.refused(request, generation: generation, isRetry: isRetry)
                if decision == .wait || decision == .renew { waiting.insert(request) }
                if decision == .send(generation: generation) { #expect(generation == machine.generation) }
            case 5:
                let results: [TokenMachine.Renewal] = [.stored, .stored, .failed]
                let result = results.randomElement(using: &generator) ?? .stored
                for (request, _) in machine.renewed(result) { waiting.remove(request) }
                #expect(waiting.isEmpty)
            case 6:
                if let request = waiting.randomElement(using: &generator) {
                    machine.cancelled(request)
                    waiting.remove(request)
                }
            default:
                machine.supersede()
                for (request, _) in machine.signedIn() { waiting.remove(request) }
                #expect(waiting.isEmpty)
            }
            #expect(machine.waiting == waiting)
            #expect(waiting.isEmpty || machine.stage == .renewing)
        }
    }
}
