import BotTesting
import Foundation
import Nostr

@testable import MLS
@testable import Marmot

/// The events that a passive member of a group receives, with its private keys: the input of the independent verifier
/// in `../shared/v2verify` (its README describes the form).
struct GroupTranscript {
    /// The name of the file, without its ending.
    let name: String
    private let paper: PaperMember
    private let wrap: Event
    private var steps: [JSONValue] = []
    private var known: Set<EventID> = []
    private var others: [JSONValue] = []
    private var finalState: JSONValue?

    /// - Parameter wrap: the gift wrap with the paper member's Welcome.
    init(_ name: String, of paper: PaperMember, invitedBy wrap: Event) {
        self.name = name
        self.paper = paper
        self.wrap = wrap
    }

    /// Appends an event of the group unless the transcript has it.
    mutating func append(_ event: Event, atMilliseconds time: Int64) throws {
        guard event.kind == .groupEvent, self.known.insert(event.id).inserted else { return }
        self.steps.append(["event": try JSONValue(json: event.json()), "at_ms": .integer(time)])
    }

    /// Appends the passing of time.
    mutating func pass(toMilliseconds time: Int64) {
        self.steps.append(["event": .null, "at_ms": .integer(time)])
    }

    /// Adds key packages to be checked.
    mutating func addKeyPackages(_ events: some Sequence<Event>) throws {
        for event in events where event.kind == .addressableKeyPackage {
            // The first generation's events of this kind have no list of components.
            guard event.firstTag("app_components") != nil else { continue }
            self.others.append(try JSONValue(json: event.json()))
        }
    }

    /// States the group's state after all steps, as a member has it.
    mutating func end(with group: ComponentGroup) {
        let texts = { (values: [String]) in JSONValue.array(values.map { .string($0) }) }
        self.finalState = [
            "epoch": .integer(Int64(clamping: group.epoch.rawValue)), "name": .string(group.name),
            "description": .string(group.description), "admins": texts(group.admins.sorted().map(\.hex)),
            "members": texts(group.members.sorted().map(\.hex)), "relays": texts(group.relays),
            "nostr_group_id": .string(group.nostrGroupID.hex),
            "group_context": .string(Hex.encode(group.mls.contextBytes)),
            "ratchet_tree": .string(Hex.encode(group.mls.encodedRatchetTree)),
            "exporter_secrets": ["group-event": .string(Hex.encode(group.outerKey.copyBytes()))],
        ]
    }

    /// The complete JSON.
    var json: JSONValue {
        get throws {
            var document: JSONObject = [
                "joiner": try self.paper.json, "key_packages": .array(self.others),
                "welcome": ["gift_wrap": try JSONValue(json: self.wrap.json())], "steps": .array(self.steps),
            ]
            document["final_state"] = self.finalState
            return .object(document)
        }
    }

    /// The folder for the transcripts: `PIKABOT_V2_EXPORT`. Nil if none are to be written.
    static let folder = ProcessInfo.processInfo.environment["PIKABOT_V2_EXPORT"].map { URL(fileURLWithPath: $0) }

    /// Writes the transcript if there is a folder for it.
    func write() throws {
        guard let folder = Self.folder else { return }
        let name = self.name.replacing("/", with: "-")
        try Data(try self.json.json()).write(to: folder.appendingPathComponent("\(name).json"))
    }
}

extension LabNetwork {
    /// The gift wrap for an account that never runs, as published; the only one, or the first.
    func giftWrap(for account: PublicKey) -> Event? {
        self.publications.map(\.publication.event).first {
            $0.kind == .giftWrap && $0.firstTag("p")?.value == account.hex
        }
    }
}
