import LiveTesting
import Testing

@testable import Appliance

@Suite struct GATTChunksTests {
    @Test func messagesRoundTripForEveryMTU() throws {
        var random = SplitMix64(seed: 5)
        for mtu in [-1, 0, 23, 24, 185, 517, 10_000] {
            for count in [0, 1, 17, 18, 500, GATTChunks.maximumBytes] {
                let message = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                let chunks = try GATTChunks.split(message, number: 9, mtu: mtu)
                #expect(chunks.allSatisfy { $0.count <= max(23, min(517, mtu)) - 3 })
                var reassembler = GATTReassembler()
                let found = chunks.compactMap { reassembler.consume($0) }
                #expect(found == [message] && reassembler.dropped == 0)
            }
        }
        let long = [UInt8](repeating: 0, count: GATTChunks.maximumBytes + 1)
        #expect(code { _ = try GATTChunks.split(long, number: 0, mtu: 23) } == .tooLarge)
    }

    @Test func dropsBrokenMessages() throws {
        let message = [UInt8](repeating: 3, count: 100)
        let chunks = try GATTChunks.split(message, number: 1, mtu: 23)
        for missing in 0..<chunks.count {
            var reassembler = GATTReassembler()
            for (index, chunk) in chunks.enumerated() where index != missing {
                let found = reassembler.consume(chunk)
                #expect(found == nil)
            }
            // The next message is complete.
            let next = try GATTChunks.split(message, number: 2, mtu: 23).compactMap { reassembler.consume($0) }
            #expect(next == [message])
        }
        var reassembler = GATTReassembler()
        for chunk in [[], [1], [1, 0, 0], [1, 2, 2], [UInt8](repeating: 0, count: 600)] as [[UInt8]] {
            let found = reassembler.consume(chunk)
            #expect(found == nil)
        }
        #expect(reassembler.dropped == 5)
    }
}

@Suite struct ProvisioningMachineTests {
    private static let device = ProvisioningMachine.Device(address: "AA:BB", name: "Pot", signal: -50)
    private static let credentials = WiFiCredentials(network: "home", passphrase: "correct horse")

    private static func notification(_ status: ProvisioningStatus) throws -> [[UInt8]] {
        try GATTChunks.split(try APICoding.encode(status), number: 1, mtu: 185)
    }

    /// Runs a machine up to the request for credentials.
    private static func ready() -> ProvisioningMachine {
        var machine = ProvisioningMachine()
        _ = machine.receive(.begin, at: .zero)
        _ = machine.receive(.found(self.device), at: .seconds(1))
        _ = machine.receive(.choose(address: "AA:BB"), at: .seconds(2))
        _ = machine.receive(.connected, at: .seconds(3))
        _ = machine.receive(.discovered(characteristics: GATTProfile.required, mtu: 185), at: .seconds(4))
        return machine
    }

    private static func write(_ machine: inout ProvisioningMachine, at time: Duration) -> [UInt8] {
        var chunks: [[UInt8]] = []
        var effects = machine.receive(.credentials(self.credentials), at: time)
        while case .write(let chunk)? = effects.first {
            chunks.append(chunk)
            effects = machine.receive(.written, at: time)
        }
        var reassembler = GATTReassembler()
        return chunks.compactMap { reassembler.consume($0) }.first ?? []
    }

    @Test func provisions() throws {
        var machine = ProvisioningMachine()
        var states = [machine.state]
        let begun = machine.receive(.begin, at: .zero)
        states.append(machine.state)
        let offered = machine.receive(.found(Self.device), at: .seconds(1))
        let chosen = machine.receive(.choose(address: "AA:BB"), at: .seconds(2))
        states.append(machine.state)
        let connected = machine.receive(.connected, at: .seconds(3))
        states.append(machine.state)
        let discovered = machine.receive(
            .discovered(characteristics: GATTProfile.required, mtu: 185), at: .seconds(4))
        states.append(machine.state)
        #expect(begun == [.startScan] && offered == [.offer([Self.device])])
        #expect(chosen == [.stopScan, .connect(address: "AA:BB")])
        #expect(connected == [.discover] && discovered == [.askForCredentials(lastFailure: nil)])
        let message = Self.write(&machine, at: .seconds(5))
        let written = try APICoding.decode(WiFiCredentials.self, from: message)
        #expect(written == Self.credentials)
        let status = ProvisioningStatus(state: .joined, localAddress: "192.168.1.9:80", claimToken: "t1")
        var effects: [ProvisioningMachine.Effect] = []
        for chunk in try Self.notification(status) { effects += machine.receive(.notified(chunk), at: .seconds(9)) }
        states.append(machine.state)
        #expect(effects == [.disconnect, .finish(claimToken: "t1", localAddress: "192.168.1.9:80")])
        #expect(states == [.idle, .scanning, .connecting, .discovering, .ready, .done])
        #expect(machine.deadline == nil)
    }

    @Test func connectsThreeTimes() {
        var machine = ProvisioningMachine()
        _ = machine.receive(.begin, at: .zero)
        _ = machine.receive(.found(Self.device), at: .zero)
        _ = machine.receive(.choose(address: "AA:BB"), at: .zero)
        let first = machine.receive(.disconnected, at: .seconds(1))
        let tooEarly = machine.advance(to: .milliseconds(1_999))
        let second = machine.advance(to: .seconds(2))
        let timedOut = machine.advance(to: .seconds(17))
        let third = machine.advance(to: .seconds(19))
        let last = machine.receive(.disconnected, at: .seconds(20))
        #expect(first.isEmpty && tooEarly.isEmpty && second == [.connect(address: "AA:BB")])
        #expect(timedOut == [.disconnect] && third == [.connect(address: "AA:BB")])
        #expect(last == [.disconnect, .fail(.connectionFailed)] && machine.state == .failed)
    }

    @Test func asksAgainForWrongPassphrase() throws {
        var machine = Self.ready()
        let failed = try Self.notification(ProvisioningStatus(state: .failed, reason: "wrong_passphrase"))
        for attempt in 1...3 {
            _ = Self.write(&machine, at: .seconds(10))
            let effects = failed.flatMap { machine.receive(.notified($0), at: .seconds(11)) }
            let expected: [ProvisioningMachine.Effect] =
                attempt < 3
                ? [.askForCredentials(lastFailure: .wrongPassphrase)] : [.disconnect, .fail(.wrongPassphrase)]
            #expect(effects == expected)
        }
    }

    @Test func writesTheWholeMessageAgain() {
        var machine = Self.ready()
        var effects = machine.receive(.credentials(Self.credentials), at: .seconds(5))
        guard case .write(let first)? = effects.first else {
            Issue.record("expected a write")
            return
        }
        effects = machine.advance(to: .seconds(10))
        #expect(effects == [.write(first)])
        let second = machine.advance(to: .seconds(15))
        let failed = machine.advance(to: .seconds(20))
        #expect(second == [.write(first)] && failed == [.disconnect, .fail(.connectionFailed)])
    }

    @Test func failsAtEveryDeadline() {
        var scanning = ProvisioningMachine()
        _ = scanning.receive(.begin, at: .zero)
        let noAppliance = scanning.advance(to: .seconds(60))
        #expect(noAppliance == [.stopScan, .fail(.noAppliance)])
        var waiting = Self.ready()
        let noCredentials = waiting.advance(to: .seconds(304))
        #expect(noCredentials == [.disconnect, .fail(.noCredentials)])
        var joining = Self.ready()
        _ = Self.write(&joining, at: .seconds(10))
        let notJoined = joining.advance(to: .seconds(70))
        #expect(notJoined == [.disconnect, .fail(.joinTimedOut)])
    }

    @Test func refusesOtherDevices() {
        var machine = ProvisioningMachine()
        _ = machine.receive(.begin, at: .zero)
        let unknown = machine.receive(.choose(address: "CC"), at: .zero)
        _ = machine.receive(.found(Self.device), at: .zero)
        _ = machine.receive(.choose(address: "AA:BB"), at: .zero)
        _ = machine.receive(.connected, at: .zero)
        let wrong = machine.receive(.discovered(characteristics: [GATTProfile.status], mtu: 23), at: .zero)
        #expect(unknown.isEmpty && wrong == [.disconnect, .fail(.wrongDevice)])
    }

    @Test func boundsTheOfferedDevices() {
        var machine = ProvisioningMachine()
        _ = machine.receive(.begin, at: .zero)
        for number in 0..<100 {
            let device = ProvisioningMachine.Device(address: "\(number)", name: "x", signal: -number)
            _ = machine.receive(.found(device), at: .zero)
        }
        #expect(machine.devices.map { $0.address } == (0..<16).map { "\($0)" })
    }

    /// In random runs, an active machine always has a deadline, and time alone ends it.
    @Test func randomRunsAlwaysEnd() throws {
        var random = SplitMix64(seed: 11)
        let joined = try Self.notification(ProvisioningStatus(state: .joined, claimToken: "t"))
        let failed = try Self.notification(ProvisioningStatus(state: .failed, reason: "no_network"))
        let inputs: [ProvisioningMachine.Input] =
            [
                .begin, .found(Self.device), .choose(address: "AA:BB"), .connected, .disconnected,
                .discovered(characteristics: GATTProfile.required, mtu: 23), .credentials(Self.credentials), .written,
                .writeFailed, .notified([1, 2]), .adapterLost, .cancel,
            ] + (joined + failed).map { .notified($0) }
        for _ in 0..<300 {
            var machine = ProvisioningMachine()
            var now = Duration.zero
            for _ in 0..<60 {
                let input = inputs[Int.random(in: 0..<inputs.count, using: &random)]
                now += .milliseconds(Int.random(in: 0...5_000, using: &random))
                _ = Bool.random(using: &random) ? machine.receive(input, at: now) : machine.advance(to: now)
                let isActive = ![.idle, .done, .failed].contains(machine.state)
                #expect(isActive == (machine.deadline != nil))
            }
            var steps = 0
            while let deadline = machine.deadline, steps < 100 {
                _ = machine.advance(to: deadline)
                steps += 1
            }
            let hasEnded = [.idle, .done, .failed].contains(machine.state)
            #expect(hasEnded)
        }
    }
}
