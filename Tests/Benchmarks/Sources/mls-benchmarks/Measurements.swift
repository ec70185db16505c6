import MLS
import PikaCore
import TLSCodec

/// The rows of the table.
struct Measurements {
    var world = World()
    let watch: Stopwatch
    let floor: Floor
    var report: Report

    mutating func keyPackages() throws {
        let key = try SignaturePrivateKey.generate(World.suite, using: &self.world.rng)
        let made = try self.watch.measure { consume(try self.world.bundle(1, signatureKey: key)) }
        self.report.add("key package: generate", made, floor: self.floor.keyPackage, peer: Peer.keyPackage)
        let bytes = try self.world.bundle(1).keyPackage.tlsEncoded()
        let verified = try self.watch.measure { consume(try KeyPackage(tlsEncoded: bytes).verified(now: 1)) }
        self.report.add(
            "key package: parse and verify", verified, floor: self.floor.keyPackageVerification,
            peer: Peer.keyPackageVerification)
    }

    mutating func messages(_ count: Int, _ pair: World.Pair, size: Int) throws {
        var (sender, receiver) = (pair.first, pair.last)
        let text = [UInt8](repeating: 0x61, count: size)
        let batch = 100
        var messages: [[UInt8]] = []
        let sent = try self.watch.measure(batch: batch) {
            messages.removeAll(keepingCapacity: true)
            for _ in 0..<batch { messages.append(try sender.protect(text, using: &self.world.rng)) }
        }
        self.report.add(
            "send \(size) B, N=\(count)", sent, floor: self.floor.send(size), peer: Peer.send[count]?[size],
            target: size == 100 ? 0.03 : nil)
        // The receiver starts where the last batch started; every repetition decrypts that batch again.
        receiver.configuration.maximumForwardDistance = .max
        _ = try receiver.process(MLSMessage(messages[0]), now: nil)
        messages.removeFirst()
        let received = try self.watch.measure(batch: batch - 1) {
            var copy = receiver
            for message in messages { consume(try copy.process(MLSMessage(message), now: nil)) }
        }
        self.report.add(
            "receive \(size) B, N=\(count)", received, floor: self.floor.receive(size),
            peer: Peer.receive[count]?[size],
            target: size == 100 ? 0.09 : nil)
    }

    mutating func createAndAdd(_ count: Int, target: Double? = nil) throws {
        let packages = try (1...count).map { try self.world.bundle($0).keyPackage.tlsEncoded() }
        let own = try self.world.bundle(0)
        let timing = try self.watch.measure {
            var group = try MLSGroup.create(
                groupID: World.groupID, member: own, using: &self.world.rng)
            let verified = try packages.map { try KeyPackage(tlsEncoded: $0).verified(now: 1) }
            consume(try group.commit(World.request(adding: verified, path: false), using: &self.world.rng))
        }
        self.report.add(
            "create group, add \(count)", timing, floor: self.floor.add(count), peer: Peer.create[count], target: target
        )
    }

    /// Wall time of creating and joining a large group on two processors; the floor is half of the work.
    mutating func onTwoProcessors(_ count: Int, createTarget: Double, joinTarget: Double) throws {
        let work = SystemWork(width: 2)
        let packages = try (1..<count).map { try self.world.bundle($0).keyPackage.tlsEncoded() }
        let own = try self.world.bundle(0)
        let created = try self.watch.measure(by: Stopwatch.wall) {
            var group = try MLSGroup.create(groupID: World.groupID, member: own, using: &self.world.rng)
            let verified = try work.map(packages) { package in
                Result { try KeyPackage(tlsEncoded: package).verified(now: 1) }
            }.map { try $0.get() }
            consume(
                try group.commit(
                    World.request(adding: verified, path: false), using: &self.world.rng, work: work))
        }
        self.report.add(
            "create group, add \(count - 1), two processors (wall)", created, floor: self.floor.add(count - 1) / 2,
            peer: nil, target: createTarget)
        var group = try self.world.freshGroup(count - 1).first
        let bundle = try self.world.bundle(2 * count + 1)
        let added = try group.commit(
            World.request(adding: [bundle.keyPackage.verified(now: nil)], path: false), using: &self.world.rng)
        let welcome = added.welcome ?? []
        let joined = try self.watch.measure(by: Stopwatch.wall) {
            consume(try World.join(welcome, bundle, work: work))
        }
        self.report.add(
            "join \(count), two processors (wall)", joined, floor: self.floor.join(count, isFull: false) / 2,
            peer: nil, target: joinTarget)
    }

    /// A Welcome whose sender chose the most costly tree, beside one with a usual tree.
    mutating func joinUnmerged(_ count: Int) throws {
        try self.join(count, self.world.fullGroup(count).first, isFull: true)
        try self.join(count, self.world.unmergedGroup(count), isFull: true, kind: "half unmerged")
    }

    mutating func join(
        _ count: Int, _ group: MLSGroup, isFull: Bool, kind: String? = nil, target: Double? = nil
    ) throws {
        var group = group
        let bundle = try self.world.bundle(2 * count + 1)
        let added = try group.commit(
            World.request(adding: [bundle.keyPackage.verified(now: nil)], path: false), using: &self.world.rng)
        let welcome = added.welcome ?? []
        let timing = try self.watch.measure { consume(try World.join(welcome, bundle)) }
        self.report.add(
            "join \(count), \(kind ?? (isFull ? "full" : "fresh")) tree", timing,
            floor: self.floor.join(count, isFull: isFull),
            peer: (isFull ? Peer.joinFull : Peer.joinFresh)[count], target: target)
    }

    mutating func update(_ count: Int, _ pair: World.Pair, isFull: Bool) throws {
        var pair = pair
        let kind = isFull ? "full" : "fresh"
        let depth = Int.bitWidth - (count - 1).leadingZeroBitCount
        let large = count == 1000
        var message: [UInt8] = []
        let created = try self.watch.measure {
            message = try pair.first.commit(World.request(path: true), using: &self.world.rng).message
        }
        self.report.add(
            "update: create, N=\(count), \(kind)", created,
            floor: self.floor.createUpdate(path: depth, seals: isFull ? depth : count - 1, bytes: message.count),
            peer: (isFull ? Peer.updateCreateFull : Peer.updateCreateFresh)[count],
            target: large ? (isFull ? 1 : 60) : nil)
        let processed = try self.watch.measure { consume(try World.process(message, &pair.last)) }
        self.report.add(
            "update: process, N=\(count), \(kind)", processed,
            floor: self.floor.processUpdate(path: depth, bytes: message.count),
            peer: (isFull ? Peer.updateProcessFull : Peer.updateProcessFresh)[count],
            target: large ? (isFull ? 0.6 : 0.9) : nil)
    }

    mutating func addOne(_ count: Int, _ pair: World.Pair, isFull: Bool) throws {
        var pair = pair
        let kind = isFull ? "full" : "fresh"
        let package = try self.world.bundle(count + 1).keyPackage.tlsEncoded()
        var message: [UInt8] = []
        let created = try self.watch.measure {
            let verified = try KeyPackage(tlsEncoded: package).verified(now: 1)
            message = try pair.first.commit(World.request(adding: [verified], path: false), using: &self.world.rng)
                .message
        }
        self.report.add(
            "add one: create, N=\(count), \(kind)", created, floor: self.floor.add(1, members: count, isFull: isFull),
            peer: (isFull ? Peer.addCreateFull : Peer.addCreateFresh)[count])
        let processed = try self.watch.measure { consume(try World.process(message, &pair.last)) }
        self.report.add(
            "add one: process, N=\(count), \(kind)", processed,
            floor: self.floor.processAdd(path: Int.bitWidth - count.leadingZeroBitCount),
            peer: (isFull ? Peer.addProcessFull : Peer.addProcessFresh)[count])
    }

    mutating func removeOne(_ count: Int, _ pair: World.Pair, isFull: Bool) throws {
        var pair = pair
        let kind = isFull ? "full" : "fresh"
        let depth = Int.bitWidth - (count - 1).leadingZeroBitCount
        var request = World.request(path: true)
        request.removing = [LeafIndex(rawValue: 1)]
        var message: [UInt8] = []
        let created = try self.watch.measure {
            message = try pair.first.commit(request, using: &self.world.rng).message
        }
        self.report.add(
            "remove one: create, N=\(count), \(kind)", created,
            floor: self.floor.createUpdate(path: depth, seals: isFull ? depth : count - 2, bytes: message.count),
            peer: (isFull ? Peer.removeCreateFull : Peer.removeCreateFresh)[count])
        let processed = try self.watch.measure { consume(try World.process(message, &pair.last)) }
        self.report.add(
            "remove one: process, N=\(count), \(kind)", processed,
            floor: self.floor.processUpdate(path: depth, bytes: message.count),
            peer: (isFull ? Peer.removeProcessFull : Peer.removeProcessFresh)[count])
    }
}
