import Foundation
import MLS
import Nostr
import Testing

@testable import Marmot

/// Ten thousand damaged inputs of every kind: each ends in a disposition or an error with a reason, none in a crash.
struct HostileInputTests {
    private static let rounds = 10_000

    private struct Histogram {
        var counts: [String: Int] = [:]
        mutating func add(_ reason: String) { self.counts[reason, default: 0] += 1 }

        /// Prints the reasons if `SHOW_REASONS` is set.
        func show(_ title: String) {
            guard ProcessInfo.processInfo.environment["SHOW_REASONS"] != nil else { return }
            let lines = self.counts.sorted { $0.value > $1.value }.map { "  \($0.value) \($0.key)" }
            print(([title] + lines).joined(separator: "\n"))
        }
    }

    private func mutate(_ bytes: [UInt8], _ rng: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &rng) {
            guard !bytes.isEmpty else { return [UInt8.random(in: 0...255, using: &rng)] }
            let position = Int.random(in: 0..<bytes.count, using: &rng)
            switch Int.random(in: 0..<6, using: &rng) {
            case 0, 1: bytes[position] = UInt8.random(in: 0...255, using: &rng)
            case 2: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &rng)
            case 3: bytes.removeSubrange(position...)
            case 4: bytes.insert(UInt8.random(in: 0...255, using: &rng), at: position)
            default:
                let end = min(bytes.count, position + Int.random(in: 1...40, using: &rng))
                bytes.append(contentsOf: bytes[position..<end])
            }
        }
        return bytes
    }

    private func mutate(_ text: String, _ rng: inout SeededGenerator) -> String {
        String(decoding: self.mutate(Array(text.utf8), &rng), as: UTF8.self)
    }

    private func mutate(_ tags: [Tag], _ rng: inout SeededGenerator) -> [Tag] {
        var tags = tags
        guard !tags.isEmpty else { return [Tag(values: [])] }
        let position = Int.random(in: 0..<tags.count, using: &rng)
        switch Int.random(in: 0..<4, using: &rng) {
        case 0: tags.remove(at: position)
        case 1: tags.append(tags[position])
        case 2: tags[position].values = []
        default:
            guard !tags[position].values.isEmpty else { break }
            let value = Int.random(in: 0..<tags[position].values.count, using: &rng)
            tags[position].values[value] = self.mutate(tags[position].values[value], &rng)
        }
        return tags
    }

    /// The event with one of its parts damaged.
    private func mutate(_ event: Event, _ rng: inout SeededGenerator) -> Event {
        var (kind, time, tags, content) = (event.kind, event.createdAt, event.tags, event.content)
        switch Int.random(in: 0..<5, using: &rng) {
        case 0: tags = self.mutate(tags, &rng)
        case 1: content = self.mutate(content, &rng)
        case 2: content = Base64.encode(self.mutate(Base64.decode(content) ?? [], &rng))
        case 3: time = Int64.random(in: .min ... .max, using: &rng)
        default: kind = Kind(rawValue: UInt16.random(in: .min ... .max, using: &rng))
        }
        return Event(
            id: event.id, pubkey: event.pubkey, createdAt: time, kind: kind, tags: tags, content: content,
            signature: event.signature)
    }

    /// One event of every kind there is in a group, with the MLS message inside.
    private func samples(_ lab: inout Lab) throws -> [(event: Event, message: [UInt8])] {
        var samples: [(event: Event, message: [UInt8])] = []
        func add(_ message: [UInt8], from member: Int, _ lab: inout Lab) throws {
            samples.append((try lab.wrap(message, from: member), message))
        }
        try add(try lab.groups[0].mls.protect(lab.rumor("hi", from: 0).rumorJSON(), using: &lab.rng), from: 0, &lab)
        try add(
            try lab.groups[3].mls.propose(.selfRemove, wireFormat: .publicMessage, using: &lab.rng).message, from: 3,
            &lab)
        try add(try lab.groups[3].mls.proposeUpdate(using: &lab.rng).message, from: 3, &lab)
        let newcomer = try lab.newcomer()
        for wireFormat in [WireFormat.privateMessage, .publicMessage] {
            var request = CommitRequest()
            request.wireFormat = wireFormat
            request.adding = [newcomer.invitee.keyPackage]
            var mls = lab.groups[0].mls
            try add(try mls.commit(request, using: &lab.rng).message, from: 0, &lab)
        }
        return samples
    }

    @Test func damagedGroupEventsEndInADisposition() throws {
        var lab = try Lab(4, admins: [0, 1])
        try lab.change(.selfUpdate, by: 1)
        let samples = try self.samples(&lab)
        var outer = Histogram()
        var inner = Histogram()
        let fresh = lab.groups[2]
        let contents = fresh.contents
        for round in 0..<Self.rounds {
            let sample = samples[round % samples.count]
            var group = fresh
            let disposition = group.ingest(self.mutate(sample.event, &lab.rng), now: lab.now)
            outer.add(disposition.label)
            if case .refused(let refusal) = disposition {
                #expect(!refusal.reason.isEmpty && !refusal.detail.isEmpty && refusal.reason != "unexpected")
                if round.isMultiple(of: 50) { #expect(group.contents == contents) }
            }
        }
        for round in 0..<Self.rounds {
            let sample = samples[round % samples.count]
            var group = fresh
            let damaged = self.mutate(sample.message, &lab.rng)
            // Now and then a byte is replaced by itself.
            guard damaged != sample.message else { continue }
            let event = try lab.wrap(damaged, from: 0)
            let disposition = group.ingest(event, now: lab.now)
            inner.add(disposition.label)
            if case .refused(let refusal) = disposition {
                #expect(!refusal.reason.isEmpty && !refusal.detail.isEmpty && refusal.reason != "unexpected")
                if round.isMultiple(of: 50) { #expect(group.contents == contents) }
            }
        }
        outer.show("445, outer layer")
        inner.show("445, MLS message")
        #expect(inner.counts["commit"] == nil && outer.counts["refused/bad_content"] ?? 0 > 0)
    }

    /// A member can put any bytes into a message that MLS takes as genuine.
    @Test func damagedInnerEventsEndInADisposition() throws {
        var lab = try Lab(2)
        let json = lab.rumor("hello", from: 0, kind: 9).rumorJSON()
        var histogram = Histogram()
        for _ in 0..<2_000 {
            let event = try lab.say(raw: self.mutate(json, &lab.rng), from: 0)
            histogram.add(lab.deliver(event, to: 1).label)
        }
        histogram.show("inner events")
        try lab.expectAgreement()
    }

    @Test func damagedKeyPackageEventsAreRefusedWithAReason() throws {
        var lab = try Lab(1)
        let newcomer = try lab.newcomer()
        let events = KeyPackageEvents.events(
            for: newcomer.bundle.keyPackage, slot: Lab.groupID(1).hex, relays: [try RelayURL(Lab.relays[0])],
            client: "c", by: newcomer.keys, now: lab.now, using: &lab.rng)
        var histogram = Histogram()
        for round in 0..<Self.rounds {
            let event = round.isMultiple(of: 2) ? events.addressable : events.legacy
            do {
                let package = try KeyPackageEvents.read(self.mutate(event, &lab.rng), now: lab.now)
                #expect(package.keyPackage == newcomer.bundle.keyPackage)
                histogram.add("accepted")
            } catch {
                #expect(!error.message.isEmpty)
                histogram.add("\(error.code)")
            }
        }
        histogram.show("key package events")
    }

    @Test func damagedWelcomesAreRefusedWithAReason() throws {
        var lab = try Lab(3)
        let newcomer = try lab.newcomer()
        let welcome = try #require(try lab.change(.add([newcomer.invitee]), by: 0).first)
        var histogram = Histogram()
        for _ in 0..<Self.rounds {
            var rumor = welcome.rumor
            switch Int.random(in: 0..<4, using: &lab.rng) {
            case 0: rumor.tags = self.mutate(rumor.tags, &lab.rng)
            case 1: rumor.content = self.mutate(rumor.content, &lab.rng)
            default: rumor.content = Base64.encode(self.mutate(Base64.decode(rumor.content) ?? [], &lab.rng))
            }
            do {
                let group = try Lab.join(newcomer, DueWelcome(recipient: welcome.recipient, rumor: rumor))
                #expect(group.mls.epochAuthenticator == lab.groups[0].mls.epochAuthenticator)
                histogram.add("joined")
            } catch let error as MarmotError {
                #expect(!error.message.isEmpty)
                histogram.add("\(error.code)")
            }
        }
        histogram.show("Welcomes")
    }

    @Test func damagedGroupDataIsRefusedOrReadBackTheSame() throws {
        var lab = try Lab(3)
        let bytes = lab.groups[0].data.encoded()
        for _ in 0..<Self.rounds {
            do {
                let data = try GroupData(encoded: self.mutate(bytes, &lab.rng))
                #expect(try GroupData(encoded: data.encoded()).name == data.name)
            } catch {
                #expect(error.code == .badGroupData)
            }
        }
    }
}
