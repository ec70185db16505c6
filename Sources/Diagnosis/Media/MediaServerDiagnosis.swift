import NIOHTTP1
package import PikaCore

/// Checks whether a media server is reachable.
package enum MediaServerDiagnosis {
    package static func run(
        _ server: MediaURL, http: HTTPProbe
    ) async -> (findings: [Finding], clockOffset: Double?) {
        var findings = FindingList("media server \(server)")
        do {
            // Any response shows that the server is there, even a refusal for lack of an authorization (BUD-06).
            let answer = try await http.request(server.upload.description, .HEAD)
            if answer.status < 500 {
                findings.ok("http", "responds with status \(answer.status)")
            } else {
                findings.error(
                    "http", "responds with status \(answer.status)",
                    "try again; if the error persists, use another server")
            }
            return (findings.all, answer.clockOffset)
        } catch {
            findings.error(
                "http", "no response: \(error)", "check the address; without this server no files can be sent")
            return (findings.all, nil)
        }
    }
}
