import MLS
import Nostr
import PikaCore

@testable import Marmot

extension Target {
    /// A whole core: a script of relay frames, members' messages, stored rows, restarts, answers and waiting.
    static func core(_ world: World) throws -> Target {
        let scripts = try CoreScript.samples(world)
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
    static func samples(_ world: World) throws -> [[UInt8]] {
        let event = RelayMessage.event(subscription: "groups", world.genuine).json()
        let others: [RelayMessage] = [
            .ok(world.genuine.id, accepted: false, message: "blocked: x"), .endOfStoredEvents(subscription: "groups"),
            .closed(subscription: "groups", message: "error: x"),
        ]
        let connect: [(Operation, [UInt8])] = [(.relay, [0]), (.relay, [1]), (.relay, [2])]
        var scripts = [
            self.encode(connect + [(.frame, event), (.handled, []), (.restart, []), (.frame, event)]),
            self.encode(others.map { (.frame, $0.json()) } + connect),
            self.encode([(.giftWrap, world.welcome.rumorJSON())] + connect + [(.plaintext, world.rumor.rumorJSON())]),
            self.encode((0..<8).map { (.commit, [$0]) } + connect),
            self.encode(
                (0..<12).map { (.action, [$0, 0x61]) } + connect + [(.wait, [1]), (.relay, [3]), (.relay, [4])]),
            self.encode((0..<8).map { (.row, [$0, 0, 1, 2, 3]) }),
            self.encode([(.action, [0]), (.restart, [])] + connect + [(.wait, [200]), (.relay, [2])]),
        ]
        for handshake in world.handshakes { scripts.append(self.encode([(.message, handshake.message)] + connect)) }
        return scripts
    }
}
