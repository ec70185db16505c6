import Appliance
import BotKit
import Foundation
import Synchronization

/// A pairing program with one appliance in reach.
final class PairingRadio: BotPrograms {
    private struct Line: Decodable {
        var `do`: String
        var value: String?
    }

    private struct Content {
        var lines: [String] = []
        var credentials: [WiFiCredentials] = []
    }

    private let content = Mutex(Content())
    private let passphrase: String
    private let claimToken: @Sendable () throws -> String

    init(passphrase: String, claimToken: @escaping @Sendable () throws -> String) {
        self.passphrase = passphrase
        self.claimToken = claimToken
    }

    /// All requests, in order.
    var lines: [String] { content.withLock { $0.lines } }
    var credentials: [WiFiCredentials] { content.withLock { $0.credentials } }

    func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8] { [] }

    func converse(
        with program: BotProgramRun, lines: AsyncStream<String>,
        receive: @escaping @Sendable (_ line: String) async -> Void
    ) async throws(BotError) {
        var reassembler = GATTReassembler()
        var number: UInt8 = 0
        for await text in lines {
            content.withLock { $0.lines.append(text) }
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8)) else { continue }
            switch line.do {
            case "scan":
                await receive(#"{"event":"found","address":"C0:FF:EE:00:00:01","name":"Kitchen","signal":-52}"#)
            case "connect": await receive(#"{"event":"connected"}"#)
            case "discover":
                let ids = GATTProfile.required.sorted().map { "\"\($0)\"" }.joined(separator: ",")
                await receive("{\"event\":\"discovered\",\"characteristics\":[\(ids)],\"mtu\":64}")
            case "write":
                await receive(#"{"event":"written"}"#)
                guard let chunk = line.value.flatMap({ Data(base64Encoded: $0) }),
                    let message = reassembler.consume(Array(chunk)),
                    let credentials = try? APICoding.decode(WiFiCredentials.self, from: message)
                else { continue }
                content.withLock { $0.credentials.append(credentials) }
                number &+= 1
                for chunk in status(credentials, number) {
                    await receive("{\"event\":\"notified\",\"value\":\"\(Data(chunk).base64EncodedString())\"}")
                }
            default: break
            }
        }
    }

    private func status(_ credentials: WiFiCredentials, _ number: UInt8) -> [[UInt8]] {
        let status: ProvisioningStatus
        if credentials.passphrase == passphrase, let token = try? claimToken() {
            status = ProvisioningStatus(state: .joined, localAddress: "192.168.1.5:80", claimToken: token)
        } else {
            status = ProvisioningStatus(state: .failed, reason: "wrong_passphrase")
        }
        guard let message = try? APICoding.encode(status) else { return [] }
        return (try? GATTChunks.split(message, number: number, mtu: 64)) ?? []
    }
}
