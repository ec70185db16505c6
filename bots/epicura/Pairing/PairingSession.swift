import Appliance
import BotKit

/// One pairing: the state machine between a private chat and the pairing program. Nothing of it is stored, because it
/// holds a passphrase.
actor PairingSession {
    /// The longest pairing: all deadlines of the machine with all of their attempts are shorter.
    private static let longest = Duration.seconds(1_800)
    private static let maximumMeaningless = 64

    nonisolated let chat: ChatID
    private let kitchen: Kitchen
    private let clock: any CoreClock
    private let programs: any BotPrograms
    private let command: [String]
    /// Distinguishes the notices of this pairing.
    private let id: String

    private var machine = ProvisioningMachine()
    private var offered: [ProvisioningMachine.Device] = []
    private var name = ""
    private var noticeCount = 0
    private var meaningless = 0
    private let lines: AsyncStream<String>
    private let input: AsyncStream<String>.Continuation
    private let wakes: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    init(_ chat: ChatID, id: String, command: [String], kitchen: Kitchen) {
        self.chat = chat
        self.id = id
        self.command = command
        self.kitchen = kitchen
        clock = kitchen.services.clock
        programs = kitchen.services.programs
        // Requests follow from events and answers, and each waits for the one before, so that few are queued.
        (lines, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(256))
        (wakes, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var time: Duration { .milliseconds(clock.monotonicMilliseconds) }
    var isActive: Bool { ![.idle, .done, .failed].contains(machine.state) }

    /// Runs the program until the pairing has ended.
    func run() async {
        await receive(.begin)
        await withDiscardingTaskGroup { group in
            group.addTask { await self.watchDeadlines() }
            let run = BotProgramRun(
                command: command, timeout: Self.longest, maximumBytes: PairingEvent.maximumLine)
            try? await programs.converse(with: run, lines: lines) { await self.receive(line: $0) }
            group.cancelAll()
        }
        // A program that ends before the pairing takes the radio with it.
        await receive(.adapterLost)
    }

    private func watchDeadlines() async {
        await withDiscardingTaskGroup { group in
            for await _ in wakes {
                await perform(machine.advance(to: time))
                guard let deadline = machine.deadline else { continue }
                group.addTask {
                    try? await self.clock.sleep(untilMonotonicMilliseconds: deadline.wholeMilliseconds)
                    self.wakeUp.yield()
                }
            }
            group.cancelAll()
        }
    }

    // MARK: Inputs

    private func receive(line: String) async {
        guard let input = PairingEvent.input(line) else {
            meaningless += 1
            if meaningless == Self.maximumMeaningless { await receive(.adapterLost) }
            return
        }
        await receive(input)
    }

    private func receive(_ input: ProvisioningMachine.Input) async {
        await perform(machine.receive(input, at: time))
        wakeUp.yield()
    }

    func cancel() async { await receive(.cancel) }

    /// Reads a message of the chat: the number of a device, or network and passphrase in two lines.
    func answer(_ text: String) async {
        switch machine.state {
        case .scanning:
            let digits = text.filter { !$0.isWhitespace }
            guard let number = Int(digits), offered.indices.contains(number.clampedSubtracting(1)) else {
                return await offer(offered)
            }
            let device = offered[number.clampedSubtracting(1)]
            name = device.name.isEmpty ? "Epicura" : device.name
            await tell(.pairConnecting, ["name": name])
            await receive(.choose(address: device.address))
        case .ready:
            let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0.isNewline }
            let credentials = WiFiCredentials(
                network: String(parts.first ?? ""), passphrase: parts.count == 2 ? String(parts[1]) : "")
            guard (try? credentials.validate()) != nil else { return await tell(.pairAskWifi) }
            await tell(.pairJoining)
            await receive(.credentials(credentials))
        case .idle, .connecting, .discovering, .done, .failed: return
        }
    }

    // MARK: Effects

    private func perform(_ effects: [ProvisioningMachine.Effect]) async {
        // First all requests, so that their order is that of the effects.
        for effect in effects {
            guard let line = try? PairingRequest(effect)?.line() else { continue }
            input.yield(line)
        }
        for effect in effects {
            switch effect {
            case .startScan, .stopScan, .connect, .discover, .write, .disconnect: break
            case .offer(let devices): await offer(devices)
            case .askForCredentials(let failure):
                if let failure { await tell(TextKey(failure)) }
                await tell(.pairAskWifi)
            case .finish(let token, let address):
                await kitchen.paired(ApplianceClaim(claimToken: token, name: name), at: address)
                end()
            case .fail(let failure):
                await tell(TextKey(failure))
                await kitchen.endPairing(self)
                end()
            }
        }
    }

    /// Closes the program's input, at which it exits.
    private func end() {
        input.finish()
        wakeUp.finish()
    }

    private func offer(_ devices: [ProvisioningMachine.Device]) async {
        offered = devices
        let lines = devices.enumerated().map { index, device in
            "\(index + 1). \(device.name.isEmpty ? device.address : device.name) (\(device.signal) dBm)"
        }
        await tell(.pairChoose, lines: lines)
    }

    private func tell(_ key: TextKey, _ values: [String: String] = [:], lines: [String] = []) async {
        noticeCount += 1
        let (id, chat, settings) = ("\(id)-\(noticeCount)", chat.rawValue, kitchen.settings)
        try? await kitchen.update { state, _ in
            let text = ([state.text(key, values, for: chat, settings)] + lines).joined(separator: "\n")
            state.tell(Notice(id: id, chat: chat, .text(text, people: [], everyone: false)))
            return ((), [])
        }
    }
}
