import NIOHTTP1
public import PikaCore

/// Checks whether a media server is reachable.
public enum MediaServerDiagnosis {
    public static func run(
        _ server: MediaURL, http: HTTPProbe
    ) async -> (findings: [Finding], clockOffset: Double?) {
        var findings = FindingList("media server \(server)")
        do {
            // Any response shows that the server is there, even a refusal for want of an authorization (BUD-06).
            let answer = try await http.ask(server.upload.description, .HEAD)
            if answer.status < 500 {
                findings.ok("http", "answers (\(answer.status))")
            } else {
                findings.error(
                    "http", "answers with status \(answer.status)", "try again; if it stays so use another server")
            }
            return (findings.all, answer.clockOffset)
        } catch {
            findings.error("http", "does not answer: \(error)", "check the address; files cannot be sent without it")
            return (findings.all, nil)
        }
    }
}
