// Confluent.Kafka for {{account}}; the password is in the environment variable PARTNER_PASSWORD.{{byPassword}}
// Confluent.Kafka for {{account}}, with partner.pem and partner.key, or the files that PARTNER_CERT and PARTNER_KEY name.{{byCertificate}}
// dotnet new console && dotnet add package Confluent.Kafka, and put this file in place of Program.cs.
// In the sandbox also: PARTNER_BROKERS=localhost:9092 PARTNER_CA=<kit>/sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}{{byPassword}}
// In the sandbox, by password: PARTNER_PASSWORD=… PARTNER_BROKERS=localhost:9092 PARTNER_CA=<kit>/sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}{{byCertificate}}
using System;
using System.IO;
using System.Text;
using System.Threading;
using Confluent.Kafka;

static string Setting(string name, string otherwise) => Environment.GetEnvironmentVariable(name) ?? otherwise;

static T Reached<T>(T config) where T : ClientConfig
{
    var authority = Setting("PARTNER_CA", "ca.pem");
    var username = Setting("PARTNER_USERNAME", "{{username}}");
    config.BootstrapServers = Setting("PARTNER_BROKERS", "{{bootstrap}}");
    config.AllowAutoCreateTopics = false;
    // Without a file the public authorities count.
    if (File.Exists(authority)) config.SslCaLocation = authority;
    // {{#byCertificate}}
    // Who names an account comes by password, as in the sandbox; otherwise the certificate says who you are.
    if (username == "")
    {
        config.ClientId = "{{accountText}}";
        config.SecurityProtocol = SecurityProtocol.Ssl;
        config.SslCertificateLocation = Setting("PARTNER_CERT", "partner.pem");
        config.SslKeyLocation = Setting("PARTNER_KEY", "partner.key");
        return config;
    }
    // {{/byCertificate}}
    config.ClientId = username;
    config.SecurityProtocol = SecurityProtocol.SaslSsl;
    config.SaslMechanism = SaslMechanism.ScramSha512;
    config.SaslUsername = username;
    config.SaslPassword = Setting("PARTNER_PASSWORD", "");
    return config;
}

var producerConfig = Reached(new ProducerConfig
{
    Acks = Acks.All,
    EnableIdempotence = true,
    // As in Java; this client's own default puts the records of an order into another partition than other clients do.
    Partitioner = Partitioner.Murmur2Random,
});

var consumerConfig = Reached(new ConsumerConfig
{
    GroupId = "{{group}}",
    EnableAutoCommit = false,
    IsolationLevel = IsolationLevel.ReadCommitted,
    AutoOffsetReset = AutoOffsetReset.Earliest,
});

using var producer = new ProducerBuilder<string, byte[]>(producerConfig).Build();
using var consumer = new ConsumerBuilder<string, byte[]>(consumerConfig).Build();
using var stopping = new CancellationTokenSource();
Console.CancelKeyPress += (_, pressed) => { pressed.Cancel = true; stopping.Cancel(); };

consumer.Subscribe("{{requestTopic}}");
try
{
    while (true)
    {
        var result = consumer.Consume(stopping.Token);
        var type = result.Message.Headers.TryGetLastBytes("ce_type", out var bytes) ? Encoding.UTF8.GetString(bytes) : "";
        Console.WriteLine($"{result.Message.Key} {type} {result.Message.Value?.Length} bytes");
        // Answers go to {{responseTopic}} with producer.ProduceAsync. Commit behind your own transaction.
        consumer.Commit(result);
    }
}
catch (OperationCanceledException)
{
    consumer.Close();
}
