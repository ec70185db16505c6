import MLS
import Nostr
import PikaCore

@testable import Marmot

extension Target {
    /// A whole core: a script of relay frames, members' messages, stored rows, restarts, answers and waiting.
    static func core(_ world: World) throws -> Target {
        let scripts = CoreScript.samples(
            genuine: world.genuine, welcome: world.welcome, rumor: world.rumor,
            messages: world.handshakes.map(\.message))
        return Target(
            "core",
            [CoreLab.Role.member, .newcomer].map { role in
                Reader(scripts) { bytes in
                    var lab = try CoreLab(world, role)
                    for step in CoreScript.steps(of: bytes) where !lab.hasEnded { lab.perform(step) }
                    lab.end()
                }
            })
    }

    /// A whole core in a group of the second generation, whose admin commits on several branches.
    static func secondCore(_ world: World, _ second: ComponentWorld) throws -> Target {
        let scripts =
            CoreScript.samples(
                genuine: second.genuine, welcome: second.welcome, rumor: second.rumor, messages: second.messages)
            + CoreScript.forks
        return Target(
            "core-v2",
            [CoreLab.Role.member, .newcomer].map { role in
                Reader(scripts) { bytes in
                    var lab = try CoreLab(world, second, role)
                    for step in CoreScript.steps(of: bytes) where !lab.hasEnded { lab.perform(step) }
                    lab.end()
                }
            })
    }
}

/// Bytes decoded as a list of core inputs: for each an opcode, the length of its data, and the data.
struct CoreScript {
    enum Operation: UInt8, CaseIterable {
        /// A frame of a relay.
        case frame
        /// An inner event, gift-wrapped by a member.
        case giftWrap
        /// The plaintext of a message that a member encrypts.
        case plaintext
        /// An MLSMessage in the outer encryption of a group event.
        case message
        /// A commit of an honest admin.
        case commit
        /// An action of the account itself.
        case action
        /// Answers of relays: connections, searches, publications.
        case relay
        /// Time passes.
        case wait
        /// The process ends and starts again.
        case restart
        /// A row of the store is replaced; then the process starts again.
        case row
        /// Handlers complete their events.
        case handled
    }

    struct Step {
        let operation: Operation
        let data: [UInt8]
    }

    /// The number of executed steps, so that an input ends soon.
    static let maximumSteps = 64

    static func steps(of bytes: [UInt8]) -> [Step] {
        var steps: [Step] = []
        var rest = bytes[...]
        while rest.count >= 3, steps.count < Self.maximumSteps {
            let code = Int(rest.removeFirst()) % Operation.allCases.count
            let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
            steps.append(Step(operation: Operation.allCases[code], data: Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return steps
    }

    private static func encode(_ steps: [(Operation, [UInt8])]) -> [UInt8] {
        steps.flatMap { operation, data in
            [operation.rawValue, UInt8(truncatingIfNeeded: data.count >> 8), UInt8(truncatingIfNeeded: data.count)]
                + data
        }
    }

    /// Valid scripts of every operation.
    static func samples(
        genuine: Event, welcome: UnsignedEvent, rumor: UnsignedEvent, messages: [[UInt8]]
    ) -> [[UInt8]] {
        let event = RelayMessage.event(subscription: "groups", genuine).json()
        let others: [RelayMessage] = [
            .ok(genuine.id, accepted: false, message: "blocked: x"), .endOfStoredEvents(subscription: "groups"),
            .closed(subscription: "groups", message: "error: x"),
        ]
        let connect: [(Operation, [UInt8])] = [(.relay, [0]), (.relay, [1]), (.relay, [2])]
        var scripts = [
            self.encode(connect + [(.frame, event), (.handled, []), (.restart, []), (.frame, event)]),
            self.encode(others.map { (.frame, $0.json()) } + connect),
            self.encode([(.giftWrap, welcome.rumorJSON())] + connect + [(.plaintext, rumor.rumorJSON())]),
            self.encode((0..<8).map { (.commit, [$0]) } + connect),
            self.encode(
                (0..<12).map { (.action, [$0, 0x61]) } + connect + [(.wait, [1]), (.relay, [3]), (.relay, [4])]),
            self.encode((0..<8).map { (.row, [$0, 0, 1, 2, 3]) }),
            self.encode([(.action, [0]), (.restart, [])] + connect + [(.wait, [200]), (.relay, [2])]),
        ]
        for message in messages { scripts.append(self.encode([(.message, message)] + connect)) }
        return scripts
    }

    /// Scripts of the second generation: rival commits, longer branches, messages on them, restarts during a pass.
    static var forks: [[UInt8]] {
        typealias Line = (Operation, [UInt8])
        // The kind of a commit, plus 12 for each state to go back.
        func commit(_ choice: UInt8) -> Line { (.commit, [choice]) }
        func act(_ choice: UInt8) -> Line { (.action, [choice, 0x61]) }
        let text: Line = (.plaintext, Array("x".utf8))
        let pass: Line = (.wait, [2, 1])
        let accept: Line = (.relay, [2])
        let restart: Line = (.restart, [])
        let connect: [Line] = [(.relay, [0]), (.relay, [1]), accept]
        let scripts: [[Line]] = [
            [commit(2), commit(12), text, pass, commit(24), pass],
            [commit(2), commit(12), restart, pass, commit(0), pass],
            [commit(2), commit(12), commit(0), commit(0), pass],
            [act(1), commit(0), accept, pass, act(0), accept, pass],
            [act(3), commit(9), pass, commit(4), pass],
            [commit(10), pass, commit(12), pass],
            [commit(6), pass, commit(19), pass],
        ]
        return scripts.map { self.encode(connect + $0) }
    }
}
