/// Brings an appliance into the household's Wi-Fi over Bluetooth: Idle → Scanning → Connecting → Discovering → Ready →
/// Done, or Failed.
///
/// A value without clock and radio: the caller passes what happened, with the time since any fixed start, and performs the
/// returned effects in order. It calls ``advance(to:)`` at ``deadline``. Nothing of it is stored, because it holds a
/// passphrase; after a restart pairing begins anew.
package struct ProvisioningMachine: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case idle, scanning, connecting, discovering, ready, done, failed
    }

    package enum Failure: String, Hashable, Sendable, Codable, CaseIterable {
        /// No appliance was found or chosen in time.
        case noAppliance = "no_appliance"
        case connectionFailed = "connection_failed"
        /// The device lacks a required characteristic.
        case wrongDevice = "wrong_device"
        case discoveryTimedOut = "discovery_timed_out"
        /// No credentials came in time.
        case noCredentials = "no_credentials"
        case wrongPassphrase = "wrong_passphrase"
        case noNetwork = "no_network"
        case joinFailed = "join_failed"
        case joinTimedOut = "join_timed_out"
        case adapterFailed = "adapter_failed"
        case cancelled
    }

    package struct Device: Hashable, Sendable {
        package var address: String
        package var name: String
        /// Signal strength in dBm.
        package var signal: Int

        package init(address: String, name: String, signal: Int) {
            self.address = address
            self.name = name
            self.signal = signal
        }
    }

    package enum Input: Hashable, Sendable {
        case begin
        /// The scan found an appliance's advertisement, with ``GATTProfile/service``.
        case found(Device)
        /// A person chose a device.
        case choose(address: String)
        case connected
        /// The connection failed or ended.
        case disconnected
        /// Characteristics that the device has, and the connection's MTU.
        case discovered(characteristics: Set<String>, mtu: Int)
        case credentials(WiFiCredentials)
        /// The last chunk was written.
        case written
        case writeFailed
        /// A notification of ``GATTProfile/status``.
        case notified([UInt8])
        /// The Bluetooth adapter is missing or was switched off.
        case adapterLost
        case cancel
    }

    package enum Effect: Hashable, Sendable {
        case startScan
        case stopScan
        case connect(address: String)
        /// Reads the characteristics and subscribes to ``GATTProfile/status``.
        case discover
        case askForCredentials(lastFailure: Failure?)
        /// Writes to ``GATTProfile/credentials``; contains a secret.
        case write([UInt8])
        case disconnect
        /// The devices to choose from have changed.
        case offer([Device])
        case finish(claimToken: String, localAddress: String?)
        case fail(Failure)
    }

    /// Limits of time; all from the beginning of the state.
    package struct Timing: Hashable, Sendable {
        package var scan = Duration.seconds(60)
        package var connect = Duration.seconds(15)
        package var discover = Duration.seconds(10)
        package var credentials = Duration.seconds(300)
        package var write = Duration.seconds(5)
        package var join = Duration.seconds(60)
        /// Before the second connection; doubled for the third.
        package var retry = Duration.seconds(1)

        package init() {}
    }

    /// Devices that are offered; the weakest signals are left out.
    package static let maximumDevices = 16
    package static let maximumConnections = 3
    /// Attempts to write one message.
    package static let maximumWrites = 3
    package static let maximumPassphrases = 3

    private enum Phase: Hashable {
        case idle
        case scanning
        case connecting(address: String, attempt: Int)
        /// Waits before another connection.
        case waiting(address: String, attempt: Int)
        case discovering(address: String, attempt: Int)
        case awaitingCredentials(mtu: Int)
        /// `next` is the index of the chunk that is being written.
        case writing(mtu: Int, chunks: [[UInt8]], next: Int, attempt: Int)
        case joining(mtu: Int)
        case done
        case failed(Failure)
    }

    private let timing: Timing
    private var phase = Phase.idle
    private var reassembler = GATTReassembler()
    private var messageNumber: UInt8 = 0
    private var passphrases = 0
    package private(set) var devices: [Device] = []
    /// When to call ``advance(to:)``; nil if nothing is pending.
    package private(set) var deadline: Duration?

    package init(timing: Timing = Timing()) { self.timing = timing }

    package var state: State {
        switch self.phase {
        case .idle: .idle
        case .scanning: .scanning
        case .connecting, .waiting: .connecting
        case .discovering: .discovering
        case .awaitingCredentials, .writing, .joining: .ready
        case .done: .done
        case .failed: .failed
        }
    }

    package var failure: Failure? { if case .failed(let failure) = self.phase { failure } else { nil } }

    /// Applies what happened; inputs that do not fit the state have no effect.
    package mutating func receive(_ input: Input, at now: Duration) -> [Effect] {
        switch input {
        case .begin: self.begin(now)
        case .found(let device): self.offer(device)
        case .choose(let address): self.choose(address, now)
        case .connected: self.connected(now)
        case .disconnected: self.disconnected(now)
        case .discovered(let characteristics, let mtu): self.discovered(characteristics, mtu, now)
        case .credentials(let credentials): self.send(credentials, now)
        case .written: self.written(now)
        case .writeFailed: self.writeFailed(now)
        case .notified(let chunk): self.notified(chunk, now)
        case .adapterLost: self.isActive ? self.fail(.adapterFailed) : []
        case .cancel: self.isActive ? self.fail(.cancelled) : []
        }
    }

    /// Applies the passing of time.
    package mutating func advance(to now: Duration) -> [Effect] {
        guard let deadline, now >= deadline else { return [] }
        self.deadline = nil
        switch self.phase {
        case .scanning: return self.fail(.noAppliance)
        case .connecting(let address, let attempt): return [.disconnect] + self.retry(address, attempt, now)
        case .waiting(let address, let attempt): return self.connect(address, attempt, now)
        case .discovering: return self.fail(.discoveryTimedOut)
        case .awaitingCredentials: return self.fail(.noCredentials)
        case .writing: return self.writeFailed(now)
        case .joining: return self.fail(.joinTimedOut)
        case .idle, .done, .failed: return []
        }
    }

    // MARK: Transitions

    private var isActive: Bool { ![.idle, .done, .failed].contains(self.state) }

    private mutating func begin(_ now: Duration) -> [Effect] {
        guard !self.isActive else { return [] }
        self = ProvisioningMachine(timing: self.timing)
        self.phase = .scanning
        self.deadline = now + self.timing.scan
        return [.startScan]
    }

    private mutating func offer(_ device: Device) -> [Effect] {
        guard self.phase == .scanning, !device.address.isEmpty, device.address.utf8.count <= 64 else { return [] }
        var device = device
        device.name = String(device.name.prefix(40))
        var devices = self.devices.filter { $0.address != device.address } + [device]
        devices.sort { ($0.signal, $1.address) > ($1.signal, $0.address) }
        devices = Array(devices.prefix(Self.maximumDevices))
        let isNew = devices.map(\.address) != self.devices.map(\.address)
        self.devices = devices
        return isNew ? [.offer(devices)] : []
    }

    private mutating func choose(_ address: String, _ now: Duration) -> [Effect] {
        guard self.phase == .scanning, self.devices.contains(where: { $0.address == address }) else { return [] }
        return [.stopScan] + self.connect(address, 1, now)
    }

    private mutating func connect(_ address: String, _ attempt: Int, _ now: Duration) -> [Effect] {
        self.phase = .connecting(address: address, attempt: attempt)
        self.deadline = now + self.timing.connect
        return [.connect(address: address)]
    }

    private mutating func connected(_ now: Duration) -> [Effect] {
        guard case .connecting(let address, let attempt) = self.phase else { return [] }
        self.phase = .discovering(address: address, attempt: attempt)
        self.deadline = now + self.timing.discover
        return [.discover]
    }

    private mutating func disconnected(_ now: Duration) -> [Effect] {
        switch self.phase {
        case .connecting(let address, let attempt), .discovering(let address, let attempt):
            return self.retry(address, attempt, now)
        case .awaitingCredentials, .writing, .joining: return self.fail(.connectionFailed)
        case .idle, .scanning, .waiting, .done, .failed: return []
        }
    }

    private mutating func retry(_ address: String, _ attempt: Int, _ now: Duration) -> [Effect] {
        guard attempt < Self.maximumConnections else { return self.fail(.connectionFailed) }
        self.phase = .waiting(address: address, attempt: attempt + 1)
        self.deadline = now + self.timing.retry * (1 << (attempt - 1))
        return []
    }

    private mutating func discovered(
        _ characteristics: Set<String>, _ mtu: Int, _ now: Duration
    ) -> [Effect] {
        guard case .discovering = self.phase else { return [] }
        guard GATTProfile.required.isSubset(of: characteristics.map { $0.lowercased() }) else {
            return self.fail(.wrongDevice)
        }
        return self.ask(mtu, nil, now)
    }

    private mutating func ask(_ mtu: Int, _ failure: Failure?, _ now: Duration) -> [Effect] {
        self.phase = .awaitingCredentials(mtu: mtu)
        self.deadline = now + self.timing.credentials
        return [.askForCredentials(lastFailure: failure)]
    }

    private mutating func send(_ credentials: WiFiCredentials, _ now: Duration) -> [Effect] {
        guard case .awaitingCredentials(let mtu) = self.phase, let message = try? APICoding.encode(credentials) else {
            return []
        }
        self.messageNumber &+= 1
        guard let chunks = try? GATTChunks.split(message, number: self.messageNumber, mtu: mtu) else { return [] }
        self.passphrases += 1
        return self.write(mtu, chunks, 0, attempt: 1, now)
    }

    private mutating func write(
        _ mtu: Int, _ chunks: [[UInt8]], _ next: Int, attempt: Int, _ now: Duration
    ) -> [Effect] {
        guard next < chunks.count else {
            self.phase = .joining(mtu: mtu)
            self.deadline = now + self.timing.join
            return []
        }
        self.phase = .writing(mtu: mtu, chunks: chunks, next: next, attempt: attempt)
        self.deadline = now + self.timing.write
        return [.write(chunks[next])]
    }

    private mutating func written(_ now: Duration) -> [Effect] {
        guard case .writing(let mtu, let chunks, let next, let attempt) = self.phase else { return [] }
        return self.write(mtu, chunks, next + 1, attempt: attempt, now)
    }

    /// Writes the message again from its beginning: the chunk may have arrived, and only its response was lost.
    private mutating func writeFailed(_ now: Duration) -> [Effect] {
        guard case .writing(let mtu, let chunks, _, let attempt) = self.phase else { return [] }
        guard attempt < Self.maximumWrites else { return self.fail(.connectionFailed) }
        return self.write(mtu, chunks, 0, attempt: attempt + 1, now)
    }

    private mutating func notified(_ chunk: [UInt8], _ now: Duration) -> [Effect] {
        let mtu: Int
        switch self.phase {
        // The status may overtake the response to the last write.
        case .writing(let value, _, _, _), .joining(let value): mtu = value
        default: return []
        }
        guard let message = self.reassembler.consume(chunk),
            let status = try? APICoding.decode(ProvisioningStatus.self, from: message)
        else { return [] }
        switch status.state {
        case .joining: return []
        case .joined:
            guard let token = status.claimToken else { return self.fail(.joinFailed) }
            self.phase = .done
            self.deadline = nil
            return [.disconnect, .finish(claimToken: token, localAddress: status.localAddress)]
        case .failed:
            let failure = status.reason.flatMap(Failure.init(rawValue:)) ?? .joinFailed
            let canRepeat = failure == .wrongPassphrase || failure == .noNetwork
            guard canRepeat, self.passphrases < Self.maximumPassphrases else { return self.fail(failure) }
            return self.ask(mtu, failure, now)
        }
    }

    private mutating func fail(_ failure: Failure) -> [Effect] {
        let cleanup: [Effect] =
            switch self.state {
            case .scanning: [.stopScan]
            case .connecting, .discovering, .ready: [.disconnect]
            case .idle, .done, .failed: []
            }
        self.phase = .failed(failure)
        self.deadline = nil
        return cleanup + [.fail(failure)]
    }
}

extension ProvisioningMachine: CustomStringConvertible {
    /// The state, without chunks of a passphrase.
    package var description: String { "ProvisioningMachine(\(self.state.rawValue))" }
}
