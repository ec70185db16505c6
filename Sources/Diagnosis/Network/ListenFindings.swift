import NIOCore
import NIOPosix

/// Checks whether a program can listen at its configured addresses.
package enum ListenFindings {
    package static func run(host: String, port: Int, http: HTTPProbe) async -> [Finding] {
        let place = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        var findings = FindingList("observe.listen \(place)")
        do {
            let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1).bind(host: host, port: port).get()
            try? await channel.close()
            findings.ok("port", "free")
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            await judgeTaken(place, http, &findings)
        } catch let error as IOError where error.errnoCode == EACCES {
            findings.error("port", "permission denied", "use a port above 1023")
        } catch let error as IOError where error.errnoCode == EADDRNOTAVAIL {
            findings.error(
                "port", "not an address of this machine", "use 127.0.0.1 or one of the machine's own addresses")
        } catch {
            findings.error("port", "cannot listen: \(error)", "check host and port")
        }
        return findings.all
    }

    private static func judgeTaken(_ place: String, _ http: HTTPProbe, _ findings: inout FindingList) async {
        guard let answer = try? await http.request("http://\(place)/livez"),
            answer.status == 200 || answer.status == 503
        else {
            findings.error("port", "in use by another program", "stop that program or use another port")
            return
        }
        if answer.status == 200 {
            findings.ok("port", "in use; /livez responds there, so the program is already running")
        } else {
            findings.warning("port", "in use; /livez responds with 503 there", "check `status` and the log")
        }
    }
}
