//! URLs of databases with several hosts.

use crate::model::error::{Error, Result, codes};

/// The most hosts of a URL.
const MAX_HOSTS: usize = 16;

/// The URLs of the single hosts of a URL, in libpq's notation: `postgres://user@one:5432,two/database`, or
/// `postgres:///database?host=/run/one,/run/two&port=5432,5433`. All else is the same for each.
///
/// # Errors
/// `database_url_invalid`: neither one port nor as many as hosts, or too many hosts.
pub(crate) fn one_each(url: &str) -> Result<Vec<String>> {
    let invalid = |message: String| Error::new(codes::DATABASE_URL_INVALID, message);
    let Some((scheme, rest)) = url.split_once("://") else { return Ok(vec![url.to_owned()]) };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // An @ behind the authority is a part of a password with an unescaped / or ?.
    if path.contains('@') {
        return Ok(vec![url.to_owned()]);
    }
    let (user, places) =
        authority.rsplit_once('@').map_or(("", authority), |(user, _)| authority.split_at(user.len() + 1));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is = |parameter: &str, name: &str| parameter.split_once('=').is_some_and(|(it, _)| it == name);
    let of = |name: &str| -> Vec<&str> {
        let found = query.split('&').find(|parameter| is(parameter, name));
        found
            .and_then(|it| it.split_once('='))
            .map_or_else(Vec::new, |(_, values)| values.split(',').collect())
    };
    let (hosts, ports) = (of("host"), of("port"));
    let rest: Vec<&str> =
        query.split('&').filter(|it| !it.is_empty() && !is(it, "host") && !is(it, "port")).collect();
    let places: Vec<&str> = places.split(',').collect();
    let number = hosts.len().max(places.len());
    if number == 1 && ports.len() < 2 {
        return Ok(vec![url.to_owned()]);
    }
    if number > MAX_HOSTS {
        return Err(invalid(format!("the database's URL has {number} hosts, of {MAX_HOSTS} at most")));
    }
    if !(ports.len() < 2 || ports.len() == number) || !(places.len() == 1 || hosts.is_empty()) {
        let message = format!("the database's URL has {number} hosts and {} ports", ports.len());
        return Err(invalid(message).with_hint("give one port for all hosts, or one for each"));
    }
    let one = |index: usize| {
        let place = places.get(index).or(places.first()).copied().unwrap_or_default();
        let mut parameters: Vec<String> = Vec::new();
        parameters.extend(hosts.get(index).map(|host| format!("host={host}")));
        parameters.extend(ports.get(index).or(ports.first()).map(|port| format!("port={port}")));
        parameters.extend(rest.iter().map(|&it| it.to_owned()));
        let query = if parameters.is_empty() { String::new() } else { format!("?{}", parameters.join("&")) };
        format!("{scheme}://{user}{place}{path}{query}")
    };
    let is_empty = |index: usize| places.len() > 1 && places[index].is_empty();
    if (0..number).any(is_empty) || hosts.iter().any(|host| host.is_empty()) {
        return Err(invalid("the database's URL has an empty host".into()));
    }
    Ok((0..number).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_a_url_of_its_own() {
        let many = |url: &str| one_each(url).unwrap();
        assert_eq!(
            many("postgres://ada:p,w@one:5432,two:5433,[::1]/htm?sslmode=require"),
            [
                "postgres://ada:p,w@one:5432/htm?sslmode=require",
                "postgres://ada:p,w@two:5433/htm?sslmode=require",
                "postgres://ada:p,w@[::1]/htm?sslmode=require",
            ]
        );
        assert_eq!(
            many("postgres://ada@/htm?host=/run/a,/run/b&port=5432,5433&options[jit]=off"),
            [
                "postgres://ada@/htm?host=/run/a&port=5432&options[jit]=off",
                "postgres://ada@/htm?host=/run/b&port=5433&options[jit]=off",
            ]
        );
        assert_eq!(many("postgres://one,two/htm?port=6432")[1], "postgres://two/htm?port=6432");
    }

    #[test]
    fn a_url_of_one_host_stays_as_it_is() {
        for url in [
            "",
            "postgres://",
            "postgres://me:a,b@host:5432/db?sslmode=disable",
            "postgres://postgres@%2Fa%20b%2Cc:5432/htm",
            "postgres://me:pa,s/s@one,two/db?password=x@y",
            "postgres:///db?host=/run/a&port=1",
            "me:hunter2@one,two",
        ] {
            assert_eq!(one_each(url).unwrap(), [url]);
        }
    }

    #[test]
    fn hosts_and_ports_that_do_not_fit_are_rejected() {
        for url in [
            "postgres:///db?host=/a,/b,/c&port=1,2",
            "postgres://one,two/db?port=1,2,3",
            "postgres://one/db?port=1,2",
            "postgres://one,,two/db",
            "postgres:///db?host=/a,",
            "postgres://a,b/db?host=c,d",
            &format!("postgres://{}/db", ["h"; 17].join(",")),
        ] {
            let error = one_each(url).unwrap_err();
            assert_eq!(error.code(), "database_url_invalid", "{url}");
            assert!(!error.to_string().contains("one"), "{error}");
        }
    }
}
